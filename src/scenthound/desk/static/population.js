// The tree of agents: one line per agent, from birth to death, over the pages of the crawl. It grows while the crawl runs.
import { apiOf, attempt, call, followPages } from "./desk.js";

const name = document.getElementById("crawl").dataset.name;
const tree = document.getElementById("tree");
const summary = document.getElementById("population-words");
const count = new Intl.NumberFormat("en");
const ROW = 16, LEFT = 8, RIGHT = 88, TOP = 24; // pixels
const FEW = 60, MOST = 400; // up to FEW agents are all drawn; of more, at most MOST
const SVG = "http://www.w3.org/2000/svg";

function svg(kind, attributes, ...children) {
  const element = document.createElementNS(SVG, kind);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/** The agents from top to bottom: each above its children, oldest child first; agents without a known parent are roots. */
function ordered(agents) {
  const numbers = new Set(agents.map((agent) => agent.agent)), children = new Map();
  for (const agent of agents) {
    const parent = numbers.has(agent.parent) ? agent.parent : null;
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(agent);
  }
  const rows = [], stack = [...(children.get(null) ?? [])].reverse();
  while (stack.length) {
    const agent = stack.pop();
    rows.push(agent);
    stack.push(...[...(children.get(agent.agent) ?? [])].reverse());
  }
  return rows;
}

function draw({ agents, pages, owns }) {
  const kept = agents.length <= FEW ? agents : agents.filter((agent) => agent.pages || agent.children || agent.parent !== null)
    .sort((a, b) => b.children - a.children || b.pages - a.pages).slice(0, MOST).sort((a, b) => a.agent - b.agent);
  const rows = ordered(kept), rowY = new Map(rows.map((agent, index) => [agent.agent, TOP + index * ROW]));
  const width = Math.max(tree.clientWidth, 280), height = TOP + rows.length * ROW;
  const x = (n) => LEFT + (width - LEFT - RIGHT) * n / Math.max(1, pages);
  const most = Math.max(1, ...rows.map((agent) => agent.pages));
  const lines = [];
  for (const agent of rows) {
    const y = rowY.get(agent.agent), parent = rowY.get(agent.parent), isAlive = agent.died === null;
    if (parent !== undefined) lines.push(svg("line", { x1: x(agent.born), y1: parent, x2: x(agent.born), y2: y, class: "birth" }));
    const owned = agent.owned === null ? "" : `, ${owns} ${agent.owned.toFixed(2)}`;
    const title = `Agent ${agent.agent}: ${count.format(agent.pages)} pages${owned}${isAlive ? "" : ", dead"}. ${agent.words.slice(0, 8).join(", ")}`;
    const life = svg("line", { x1: x(agent.born), y1: y, x2: Math.max(x(agent.born) + 2, x(isAlive ? pages : agent.died)), y2: y, class: isAlive ? "life" : "life dead", "stroke-width": (1.5 + 6 * agent.pages / most).toFixed(1) });
    const end = svg("text", { x: Math.max(x(agent.born) + 2, x(isAlive ? pages : agent.died)) + 10, y: y + 4 }, `${isAlive ? "" : "† "}${agent.agent}${agent.owned === null ? "" : ` · ${agent.owned.toFixed(1)}`}`);
    lines.push(svg("a", { href: `/c/${encodeURIComponent(name)}/agents/${agent.agent}`, "aria-label": title, tabindex: -1 }, svg("title", {}, title), life, end));
  }
  const axis = [0, 0.5, 1].map((part) => svg("text", { x: x(part * pages), y: 12, class: "axis", "text-anchor": part ? "middle" : "start" }, part ? count.format(Math.round(part * pages)) : "pages 0"));
  tree.replaceChildren(svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Tree of agents; the table below shows the same figures" }, ...axis, ...lines));
  tree.dataset.agents = String(rows.length);
}

async function load() {
  const answer = await attempt(() => call(apiOf(name, "/agents")));
  if (!answer) return;
  const dead = answer.total - answer.living;
  summary.textContent = `${count.format(answer.living)} alive, ${count.format(dead)} dead after ${count.format(answer.pages)} pages.`;
  draw(answer);
}

followPages(name, load);
