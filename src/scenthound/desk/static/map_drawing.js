// Draws the map on a 2D canvas. Many machines have no graphics card, so nothing is drawn again while the map moves:
// pages and links are drawn once on a sheet that is larger than the window, and the sheet is moved.
const MARGIN = 0.5; // of the window on each side of the sheet
const REST = 140; // milliseconds without movement after which the sheet is drawn again, with links
const SHADES = 5; // of relevance
const DOT = 0.5, LARGEST = 9; // radius of a page in the units of the layout, and in pixels
const ROOM = 40000, LONGEST = 26; // square pixels for each name of a host, and its letters
const NEAR = 14; // pixels around a page that count as a click on it

export class Drawing {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.sheet = document.createElement("canvas");
    this.view = { x: 0, y: 0, scale: 1 };
    this.pages = [];
    this.discs = [];
    this.links = [];
    this.until = Infinity; // the last page that is shown
    this.least = 0; // relevance from which pages are shown
    this.withLinks = true;
    this.isReplaying = false; // then links are left out: drawing them takes longer than a step
    this.selected = null;
    this.drawn = null; // the view for which the sheet was drawn
    this.colours();
    new ResizeObserver(() => this.resize()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.colours(); this.renew(); });
  }

  colours() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.ink = { paper: colour("--card"), soft: colour("--soft"), line: colour("--line"), text: colour("--ink"), faint: colour("--faint"), accent: colour("--accent"), off: colour("--off"), on: colour("--on") };
    const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    const from = channels(this.ink.off), to = channels(this.ink.on);
    this.shades = Array.from({ length: SHADES }, (_, at) => {
      const part = 0.35 + 0.65 * at / (SHADES - 1);
      return `rgb(${from.map((value, channel) => Math.round(value + (to[channel] - value) * part)).join(" ")})`;
    });
  }

  /** Shows these pages, as `layout` placed them. `links` are pairs of pages. */
  show(pages, discs, links) {
    Object.assign(this, { pages, discs, links });
    this.fit();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    const wasEmpty = !this.width;
    this.ratio = Math.min(devicePixelRatio || 1, 2);
    Object.assign(this, { width, height });
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.sheet.width = Math.round(width * this.ratio * (1 + 2 * MARGIN));
    this.sheet.height = Math.round(height * this.ratio * (1 + 2 * MARGIN));
    if (wasEmpty) this.fit();
    else this.renew();
  }

  // ---- where one looks

  fit(discs = this.discs) {
    if (!discs.length || !this.width) return;
    const edge = (pick) => discs.map(pick);
    const least = (values) => values.reduce((one, other) => Math.min(one, other), Infinity);
    const left = least(edge((disc) => disc.x - disc.r)), right = -least(edge((disc) => -disc.x - disc.r));
    const top = least(edge((disc) => disc.y - disc.r)), bottom = -least(edge((disc) => -disc.y - disc.r));
    const scale = Math.min(this.width / (right - left), this.height / (bottom - top)) * 0.92;
    this.view = { x: (left + right) / 2, y: (top + bottom) / 2, scale: Math.min(scale, 40) };
    this.renew();
  }

  pan(dx, dy) {
    this.view = { ...this.view, x: this.view.x - dx / this.view.scale, y: this.view.y - dy / this.view.scale };
    this.move();
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const before = this.world(x, y), scale = Math.min(Math.max(this.view.scale * factor, 0.2), 120);
    this.view = { x: before.x - (x - this.width / 2) / scale, y: before.y - (y - this.height / 2) / scale, scale };
    this.move();
  }

  centre(page) {
    this.view = { ...this.view, x: page.x, y: page.y };
    this.renew();
  }

  world(x, y) {
    return { x: this.view.x + (x - this.width / 2) / this.view.scale, y: this.view.y + (y - this.height / 2) / this.view.scale };
  }

  isShown(page) {
    return page.n <= this.until && page.relevance >= this.least;
  }

  /** The page that is shown at this place of the window, or null. */
  pageAt(x, y) {
    const place = this.world(x, y);
    let best = null, least = (NEAR / this.view.scale) ** 2;
    for (const page of this.pages) {
      const distance = (page.x - place.x) ** 2 + (page.y - place.y) ** 2;
      if (distance < least && this.isShown(page)) { least = distance; best = page; }
    }
    return best;
  }

  // ---- drawing

  /** Moves the sheet in the next frame, and draws it again when the movement has ended. */
  move() {
    this.plan();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.renew(), REST);
  }

  /** Draws everything again in the next frame. */
  renew() {
    clearTimeout(this.resting);
    this.drawn = null;
    this.plan();
  }

  plan() {
    this.planned ??= requestAnimationFrame(() => {
      this.planned = null;
      if (this.width) this.frame();
    });
  }

  frame() {
    if (!this.drawn) this.paint(this.withLinks && !this.isReplaying);
    else if (this.leavesSheet()) this.paint(false);
    const { context, drawn, view, ratio, sheet } = this;
    const factor = view.scale / drawn.scale;
    const width = sheet.width * factor, height = sheet.height * factor;
    const x = this.canvas.width / 2 - width / 2 + (drawn.x - view.x) * view.scale * ratio;
    const y = this.canvas.height / 2 - height / 2 + (drawn.y - view.y) * view.scale * ratio;
    context.fillStyle = this.ink.paper;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(sheet, x, y, width, height);
    this.marks();
  }

  leavesSheet() {
    const { drawn, view } = this;
    const room = (size) => size * (0.5 + MARGIN) / drawn.scale - size / 2 / view.scale;
    return Math.abs(view.x - drawn.x) > room(this.width) || Math.abs(view.y - drawn.y) > room(this.height);
  }

  paint(withLinks) {
    const context = this.sheet.getContext("2d"), { view, ratio } = this;
    const scale = view.scale * ratio, middleX = this.sheet.width / 2, middleY = this.sheet.height / 2;
    const place = (thing) => [middleX + (thing.x - view.x) * scale, middleY + (thing.y - view.y) * scale];
    this.drawn = { ...view };
    context.clearRect(0, 0, this.sheet.width, this.sheet.height);
    this.paintDiscs(context, place, scale);
    if (withLinks) this.paintLinks(context, place);
    this.paintPages(context, place, scale);
    this.paintNames(context, place, scale);
  }

  paintDiscs(context, place, scale) {
    context.beginPath();
    for (const disc of this.discs) {
      if (disc.pages[0].n > this.until) continue;
      const [x, y] = place(disc), radius = disc.r * scale;
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 7);
    }
    context.fillStyle = this.ink.faint;
    context.fill();
  }

  paintLinks(context, place) {
    context.beginPath();
    for (const [from, to] of this.links) {
      if (!this.isShown(from) || !this.isShown(to)) continue;
      context.moveTo(...place(from));
      context.lineTo(...place(to));
    }
    context.globalAlpha = this.links.length > 3000 ? 0.1 : 0.18;
    context.strokeStyle = this.ink.soft;
    context.lineWidth = this.ratio;
    context.stroke();
    context.globalAlpha = 1;
  }

  radius(scale) {
    return Math.min(Math.max(DOT * scale, 1.1 * this.ratio), LARGEST * this.ratio);
  }

  paintPages(context, place, scale) {
    const groups = Array.from({ length: SHADES + 1 }, () => new Path2D());
    const radius = this.radius(scale);
    const { width, height } = this.sheet;
    for (const page of this.pages) {
      if (!this.isShown(page)) continue;
      const [x, y] = place(page);
      if (x < -radius || y < -radius || x > width + radius || y > height + radius) continue;
      const group = page.on_topic ? Math.min(SHADES - 1, Math.floor(page.relevance * SHADES)) : SHADES;
      const own = page.on_topic ? radius : radius * 0.8;
      groups[group].moveTo(x + own, y);
      groups[group].arc(x, y, own, 0, 7);
    }
    context.strokeStyle = this.ink.off;
    context.lineWidth = Math.max(0.7 * this.ratio, Math.min(radius * 0.3, 2 * this.ratio));
    context.stroke(groups[SHADES]);
    this.shades.forEach((shade, at) => { context.fillStyle = shade; context.fill(groups[at]); });
  }

  /** The names of the largest hosts, as far as they do not cover each other. */
  paintNames(context, place, scale) {
    const { ratio } = this, written = [];
    const large = this.discs.filter((disc) => disc.pages.length > 1 && disc.r * scale > 20 * ratio && disc.pages[0].n <= this.until)
      .sort((one, other) => other.r - one.r).slice(0, 200);
    Object.assign(context, { font: `${13 * ratio}px system-ui, sans-serif`, textAlign: "center", textBaseline: "middle", lineJoin: "round", lineWidth: 4 * ratio });
    for (const disc of large) {
      if (written.length >= this.width * this.height / ROOM) break;
      const name = disc.host.length > LONGEST ? `${disc.host.slice(0, LONGEST - 1)}…` : disc.host;
      const [x, middle] = place(disc), y = middle - disc.r * scale + 9 * ratio, half = context.measureText(name).width / 2 + 4 * ratio;
      if (written.some((other) => Math.abs(other.x - x) < other.half + half && Math.abs(other.y - y) < 20 * ratio)) continue;
      written.push({ x, y, half });
      context.strokeStyle = this.ink.paper;
      context.strokeText(name, x, y);
      context.fillStyle = this.ink.text;
      context.fillText(name, x, y);
    }
  }

  /** The selected page, the path that led to it, and what it led to. */
  marks() {
    const { context, selected, view, ratio } = this;
    if (!selected) return;
    const scale = view.scale * ratio;
    const place = (page) => [this.canvas.width / 2 + (page.x - view.x) * scale, this.canvas.height / 2 + (page.y - view.y) * scale];
    const line = (from, to) => { context.moveTo(...place(from)); context.lineTo(...place(to)); };
    context.strokeStyle = this.ink.accent;
    context.lineWidth = ratio;
    context.beginPath();
    for (const child of selected.children) if (this.isShown(child)) line(selected, child);
    context.stroke();
    context.lineWidth = 2.5 * ratio;
    context.beginPath();
    for (let page = selected; page.from; page = page.from) line(page.from, page);
    context.stroke();
    context.beginPath();
    context.arc(...place(selected), this.radius(scale) + 4 * ratio, 0, 7);
    context.stroke();
  }
}
