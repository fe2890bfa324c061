// Computes the positions of hosts and pages on the map. The same pages always give the same map.
//
// A host is a disc; its pages form a spiral on it, the first in the middle. Discs touch each other: they are placed in
// the order in which the hosts were found, each at the gap in the outline that is nearest to the centre (front-chain
// circle packing: Wang et al., CHI 2006). So early finds are in the middle, of the map and of each host.
const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const SPREAD = 1.15; // approximate distance between pages on the spiral
const EDGE = 1.2; // distance from the outermost page to the edge of its host

/** Sets x, y on each page and returns the hosts with x, y, r and their pages. */
export function layout(pages) {
  const hosts = new Map();
  for (const page of pages) {
    if (!hosts.has(page.host)) hosts.set(page.host, { host: page.host, x: 0, y: 0, r: 0, pages: [] });
    hosts.get(page.host).pages.push(page);
  }
  const discs = [...hosts.values()];
  for (const disc of discs) disc.r = SPREAD * Math.sqrt(disc.pages.length - 1) + EDGE;
  pack(discs);
  for (const disc of discs) {
    disc.pages.forEach((page, index) => {
      const distance = SPREAD * Math.sqrt(index);
      page.x = disc.x + distance * Math.cos(index * GOLDEN);
      page.y = disc.y + distance * Math.sin(index * GOLDEN);
    });
  }
  return discs;
}

/** Places discs one by one so that none overlap. */
export function pack(discs) {
  if (discs.length < 2) return;
  const [first, second] = discs;
  first.x = -second.r;
  second.x = first.r;
  if (discs.length === 2) return;
  beside(second, first, discs[2]);
  let a = { disc: first }, b = { disc: second }, c = { disc: discs[2] };
  a.next = c.previous = b;
  b.next = a.previous = c;
  c.next = b.previous = a;
  for (let index = 3; index < discs.length; index += 1) {
    const disc = discs[index];
    for (;;) {
      beside(a.disc, b.disc, disc);
      const [hit, isAfter] = collision(a, b, disc);
      if (!hit) break;
      if (isAfter) b = hit;
      else a = hit;
      a.next = b;
      b.previous = a;
    }
    const link = { disc, previous: a, next: b };
    a.next = b.previous = link;
    a = nearest(link);
    b = a.next;
  }
}

/** Places disc c so that it touches a and b. */
function beside(b, a, c) {
  const dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
  const toA = (a.r + c.r) ** 2, toB = (b.r + c.r) ** 2;
  const fromA = toA <= toB, base = fromA ? toA : toB, other = fromA ? toB : toA;
  const along = (square + base - other) / (2 * square), aside = Math.sqrt(Math.max(0, base / square - along * along));
  const from = fromA ? a : b, sign = fromA ? 1 : -1;
  c.x = from.x + sign * along * dx - aside * dy;
  c.y = from.y + sign * along * dy + aside * dx;
}

/** The first link of the chain that a disc between a and b would overlap, searching outwards, and whether it is after b. */
function collision(a, b, disc) {
  let after = b.next, before = a.previous, right = b.disc.r, left = a.disc.r;
  do {
    if (right <= left) {
      if (overlaps(after.disc, disc)) return [after, true];
      right += after.disc.r;
      after = after.next;
    } else {
      if (overlaps(before.disc, disc)) return [before, false];
      left += before.disc.r;
      before = before.previous;
    }
  } while (after !== before.next);
  return [null, false];
}

function overlaps(a, b) {
  const reach = a.r + b.r - 1e-6, dx = b.x - a.x, dy = b.y - a.y;
  return reach * reach > dx * dx + dy * dy;
}

/** The link of the chain whose gap to the next link is nearest to the centre. */
function nearest(start) {
  let best = start, least = Infinity, link = start;
  do {
    const one = link.disc, two = link.next.disc, both = one.r + two.r;
    const x = (one.x * two.r + two.x * one.r) / both, y = (one.y * two.r + two.y * one.r) / both;
    if (x * x + y * y < least) { least = x * x + y * y; best = link; }
    link = link.next;
  } while (link !== start);
  return best;
}
