// Draws the map on a 2D canvas. Many machines have no graphics card, so nothing is redrawn while the map moves: pages
// and links are drawn once on an off-screen sheet that is larger than the view, and the sheet is moved.
const MARGIN = 0.5; // share of the view added on each side of the sheet
const REST = 140; // milliseconds without movement before the sheet is redrawn, with links
const SHADES = 5; // shades of relevance
const DOT = 0.5, LARGEST = 9; // radius of a page in layout units, and its maximum in pixels
const ROOM = 40000, LONGEST = 26; // square pixels per host name, and the most characters of a name
const NEAR = 14; // pixels within which a click selects a page

export class Drawing {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.sheet = document.createElement("canvas");
    this.view = { x: 0, y: 0, scale: 1 };
    this.pages = [];
    this.discs = [];
    this.links = [];
    this.until = Infinity; // number of the last page shown
    this.least = 0; // minimum relevance of pages shown
    this.withLinks = true;
    this.isReplaying = false; // links are left out then: drawing them takes longer than a step
    this.selected = null;
    this.drawn = null; // the view for which the sheet was drawn
    this.colours();
    new ResizeObserver(() => this.resize()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.colours(); this.redraw(); });
  }

  colours() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.ink = { paper: colour("--card"), soft: colour("--soft"), line: colour("--line"), text: colour("--ink"), faint: colour("--faint"), accent: colour("--accent"), off: colour("--off"), on: colour("--on") };
    const channels = (hex) => [1, 3, 5].map((index) => parseInt(hex.slice(index, index + 2), 16));
    const from = channels(this.ink.off), to = channels(this.ink.on);
    this.shades = Array.from({ length: SHADES }, (_, index) => {
      const part = 0.35 + 0.65 * index / (SHADES - 1);
      return `rgb(${from.map((value, channel) => Math.round(value + (to[channel] - value) * part)).join(" ")})`;
    });
  }

  /** Shows these pages at the positions set by `layout`. `links` are pairs of pages. */
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
    else this.redraw();
  }

  // ---- the view

  fit(discs = this.discs) {
    if (!discs.length || !this.width) return;
    const edge = (pick) => discs.map(pick);
    const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
    const left = least(edge((disc) => disc.x - disc.r)), right = -least(edge((disc) => -disc.x - disc.r));
    const top = least(edge((disc) => disc.y - disc.r)), bottom = -least(edge((disc) => -disc.y - disc.r));
    const scale = Math.min(this.width / (right - left), this.height / (bottom - top)) * 0.92;
    this.view = { x: (left + right) / 2, y: (top + bottom) / 2, scale: Math.min(scale, 40) };
    this.redraw();
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
    this.redraw();
  }

  world(x, y) {
    return { x: this.view.x + (x - this.width / 2) / this.view.scale, y: this.view.y + (y - this.height / 2) / this.view.scale };
  }

  isShown(page) {
    return page.n <= this.until && page.relevance >= this.least;
  }

  /** The page shown at this position of the view, or null. */
  pageAt(x, y) {
    const point = this.world(x, y);
    let best = null, least = (NEAR / this.view.scale) ** 2;
    for (const page of this.pages) {
      const distance = (page.x - point.x) ** 2 + (page.y - point.y) ** 2;
      if (distance < least && this.isShown(page)) { least = distance; best = page; }
    }
    return best;
  }

  // ---- drawing

  /** Moves the sheet in the next frame, and redraws it when the movement has ended. */
  move() {
    this.schedule();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.redraw(), REST);
  }

  /** Redraws everything in the next frame. */
  redraw() {
    clearTimeout(this.resting);
    this.drawn = null;
    this.schedule();
  }

  schedule() {
    this.scheduled ??= requestAnimationFrame(() => {
      this.scheduled = null;
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
    this.drawSelection();
  }

  leavesSheet() {
    const { drawn, view } = this;
    const room = (size) => size * (0.5 + MARGIN) / drawn.scale - size / 2 / view.scale;
    return Math.abs(view.x - drawn.x) > room(this.width) || Math.abs(view.y - drawn.y) > room(this.height);
  }

  paint(withLinks) {
    const context = this.sheet.getContext("2d"), { view, ratio } = this;
    const scale = view.scale * ratio, middleX = this.sheet.width / 2, middleY = this.sheet.height / 2;
    const position = (thing) => [middleX + (thing.x - view.x) * scale, middleY + (thing.y - view.y) * scale];
    this.drawn = { ...view };
    context.clearRect(0, 0, this.sheet.width, this.sheet.height);
    this.paintDiscs(context, position, scale);
    if (withLinks) this.paintLinks(context, position);
    this.paintPages(context, position, scale);
    this.paintNames(context, position, scale);
  }

  paintDiscs(context, position, scale) {
    context.beginPath();
    for (const disc of this.discs) {
      if (disc.pages[0].n > this.until) continue;
      const [x, y] = position(disc), radius = disc.r * scale;
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 7);
    }
    context.fillStyle = this.ink.faint;
    context.fill();
  }

  paintLinks(context, position) {
    context.beginPath();
    for (const [from, to] of this.links) {
      if (!this.isShown(from) || !this.isShown(to)) continue;
      context.moveTo(...position(from));
      context.lineTo(...position(to));
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

  paintPages(context, position, scale) {
    const groups = Array.from({ length: SHADES + 1 }, () => new Path2D());
    const radius = this.radius(scale);
    const { width, height } = this.sheet;
    for (const page of this.pages) {
      if (!this.isShown(page)) continue;
      const [x, y] = position(page);
      if (x < -radius || y < -radius || x > width + radius || y > height + radius) continue;
      const group = page.on_topic ? Math.min(SHADES - 1, Math.floor(page.relevance * SHADES)) : SHADES;
      const own = page.on_topic ? radius : radius * 0.8;
      groups[group].moveTo(x + own, y);
      groups[group].arc(x, y, own, 0, 7);
    }
    context.strokeStyle = this.ink.off;
    context.lineWidth = Math.max(0.7 * this.ratio, Math.min(radius * 0.3, 2 * this.ratio));
    context.stroke(groups[SHADES]);
    this.shades.forEach((shade, index) => { context.fillStyle = shade; context.fill(groups[index]); });
  }

  /** Draws the names of the largest hosts where they do not overlap. */
  paintNames(context, position, scale) {
    const { ratio } = this, drawnNames = [];
    const large = this.discs.filter((disc) => disc.pages.length > 1 && disc.r * scale > 20 * ratio && disc.pages[0].n <= this.until)
      .sort((a, b) => b.r - a.r).slice(0, 200);
    Object.assign(context, { font: `${13 * ratio}px system-ui, sans-serif`, textAlign: "center", textBaseline: "middle", lineJoin: "round", lineWidth: 4 * ratio });
    for (const disc of large) {
      if (drawnNames.length >= this.width * this.height / ROOM) break;
      const name = disc.host.length > LONGEST ? `${disc.host.slice(0, LONGEST - 1)}…` : disc.host;
      const [x, middle] = position(disc), y = middle - disc.r * scale + 9 * ratio, half = context.measureText(name).width / 2 + 4 * ratio;
      if (drawnNames.some((other) => Math.abs(other.x - x) < other.half + half && Math.abs(other.y - y) < 20 * ratio)) continue;
      drawnNames.push({ x, y, half });
      context.strokeStyle = this.ink.paper;
      context.strokeText(name, x, y);
      context.fillStyle = this.ink.text;
      context.fillText(name, x, y);
    }
  }

  /** Draws the selected page, the path to it, and the pages found on it. */
  drawSelection() {
    const { context, selected, view, ratio } = this;
    if (!selected) return;
    const scale = view.scale * ratio;
    const position = (page) => [this.canvas.width / 2 + (page.x - view.x) * scale, this.canvas.height / 2 + (page.y - view.y) * scale];
    const line = (from, to) => { context.moveTo(...position(from)); context.lineTo(...position(to)); };
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
    context.arc(...position(selected), this.radius(scale) + 4 * ratio, 0, 7);
    context.stroke();
  }
}
