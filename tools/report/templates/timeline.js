"use strict";
// The timeline: an overview of the whole run and a view that can be moved and zoomed. Segments are drawn where a window with every segment
// covers the view; elsewhere the overview's buckets are, pale and hatched, and a band above the lanes says which is which.
function Timeline(data, overview, detail, tip, shown) {
  const LANE = 26, AXIS = 24, BAND = 15, TOP = BAND + 5, MIN_SPAN = 200, DENSE = 7;
  const line = data.timeline, whole = Math.max(line.cycles, 1);
  const lanes = data.lanes, colors = new Map(data.domains.map((domain) => [domain.index, domain]));
  const starts = line.windows.map((window) => window.segments.map((segment) => segment[0]));
  let view = { from: 0, to: whole }, cursor = null;

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const color = (domain) => style("--p" + (colors.has(domain) ? colors.get(domain).color : "k"));
  const labels = () => (detail.clientWidth < 560 ? 74 : 120);

  this.time = function (cycles, digits) {
    const seconds = cycles / data.cpu_hz, size = Math.abs(seconds);
    const unit = size >= 1 ? [1, "s"] : size >= 1e-3 ? [1e-3, "ms"] : [1e-6, "µs"];
    return String(Number((seconds / unit[0]).toPrecision(digits || 4))) + " " + unit[1];
  };

  function prepare(canvas, height) {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = height + "px";
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    context.clearRect(0, 0, width, height);
    context.font = "12px " + getComputedStyle(document.body).fontFamily;
    return { context, width, height };
  }

  function scale(width, from, to) {
    const left = labels(), room = Math.max(width - left, 1);
    return { left, x: (cycle) => left + ((cycle - from) / (to - from)) * room, cycle: (x) => from + ((x - left) / room) * (to - from) };
  }

  // First segment that ends behind `cycle`, by bisection over the starts.
  function firstFrom(index, cycle) {
    const list = starts[index];
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle] <= cycle) low = middle + 1; else high = middle;
    }
    return Math.max(low - 1, 0);
  }

  function covered(from, to) {
    return line.windows.map((window, index) => ({ window, index })).filter((w) => w.window.from < to && w.window.to > from);
  }

  // The parts of a stretch that no window covers.
  function uncovered(from, to, cover) {
    const parts = [];
    let at = from;
    for (const { window } of cover) {
      if (window.from > at) parts.push([at, Math.min(window.from, to)]);
      at = Math.max(at, window.to);
      if (at >= to) return parts;
    }
    parts.push([at, to]);
    return parts;
  }

  // A stretch that is only summed: slanted lines behind what is drawn on it.
  function hatch(context, x, y, width, height) {
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.strokeStyle = style("--faint");
    context.globalAlpha = 0.35;
    context.lineWidth = 1;
    context.beginPath();
    const first = Math.floor((x - height) / DENSE) * DENSE;
    for (let at = first; at < x + width; at += DENSE) { context.moveTo(at, y + height); context.lineTo(at + height, y); }
    context.stroke();
    context.restore();
  }

  // Says above the lanes what is exact and what is summed.
  function drawBand(context, at, from, to, cover, y, height, said) {
    context.textAlign = "left";
    for (const { window } of cover) {
      const x = at.x(Math.max(window.from, from)), right = at.x(Math.min(window.to, to));
      context.fillStyle = style("--accent");
      context.fillRect(x, y, Math.max(right - x, 1), height);
      if (said && right - x > 44) { context.fillStyle = style("--card"); context.fillText("exact", x + 5, y + height - 3); }
    }
    for (const [begin, stop] of uncovered(from, to, cover)) {
      const x = at.x(begin), right = at.x(stop), text = Timeline.fit(context, "summed: shares, not who ran when", right - x - 12);
      hatch(context, x, y, right - x, height);
      if (!said || text.length < 6) continue;
      context.fillStyle = style("--card");
      context.fillRect(x + 4, y, context.measureText(text).width + 4, height);
      context.fillStyle = style("--soft");
      context.fillText(text, x + 6, y + height - 3);
    }
  }

  // A pale bar as high as the thread's share of the bucket, under a line at that height.
  function drawBuckets(context, lane, y, height, at, from, to, cover, pale) {
    const width = line.bucket_cycles, row = line.overview[lane] || [];
    const first = Math.max(Math.floor(from / width), 0), last = Math.min(Math.ceil(to / width), row.length);
    context.fillStyle = color(lanes[lane].domain);
    for (let bucket = first; bucket < last; bucket++) {
      if (row[bucket] === 0) continue;
      const start = bucket * width, end = start + width;
      const share = Math.max(row[bucket] / 255, 0.06);
      for (const [begin, stop] of uncovered(Math.max(start, from), Math.min(end, to), cover)) {
        const x = at.x(begin), right = Math.max(at.x(stop), x + 0.6), top = y + height * (1 - share);
        context.globalAlpha = pale ? 0.4 : 0.85;
        context.fillRect(x, top, right - x, height * share);
        context.globalAlpha = 1;
        if (pale) context.fillRect(x, top, right - x, 1);
      }
    }
    context.globalAlpha = 1;
  }

  function drawSegments(context, cover, at, from, to, y, height) {
    for (const { window, index } of cover) {
      const begin = firstFrom(index, from - window.from);
      for (let i = begin; i < window.segments.length; i++) {
        const [start, length, lane, domain] = window.segments[i];
        const absolute = window.from + start;
        if (absolute >= to) break;
        const x = Math.max(at.x(absolute), at.left), right = at.x(Math.min(absolute + length, to));
        if (right < at.left) continue;
        context.fillStyle = color(domain);
        context.fillRect(x, y(lane) + 5, Math.max(right - x, 0.7), height - 10);
      }
      context.fillStyle = style("--faint");
      for (const [start, lane] of window.releases) {
        const x = at.x(window.from + start);
        if (x >= at.left && window.from + start < to) context.fillRect(x, y(lane) + 2, 1, height - 4);
      }
    }
  }

  // More important markers are drawn later.
  const WEIGHT = ["restart", "budget_out", "overrun", "late", "fault", "violation"];
  const COLORS = { fault: "--bad", restart: "--good", late: "--bad", overrun: "--bad", budget_out: "--amber", violation: "--bad" };
  const SHAPES = {
    fault: (c, x, y) => { c.fillStyle = style("--bad"); c.moveTo(x, y - 6); c.lineTo(x + 6, y); c.lineTo(x, y + 6); c.lineTo(x - 6, y); c.fill(); },
    restart: (c, x, y) => { c.strokeStyle = style("--good"); c.lineWidth = 2; c.arc(x, y, 4.5, 0, 7); c.stroke(); },
    late: (c, x, y) => { c.fillStyle = style("--bad"); c.moveTo(x - 5, y - 5); c.lineTo(x + 5, y - 5); c.lineTo(x, y + 5); c.fill(); },
    overrun: (c, x, y) => SHAPES.late(c, x, y),
    budget_out: (c, x, y) => { c.fillStyle = style("--amber"); c.arc(x, y, 3.6, 0, 7); c.fill(); },
    violation: (c, x, y) => { c.fillStyle = style("--bad"); c.rect(x - 5, y - 5, 10, 10); c.fill(); },
  };

  function laneOf(markers) {
    if (markers.lane !== null) return markers.lane;
    const lane = lanes.findIndex((entry) => entry.domain === markers.domain);
    return lane < 0 ? 0 : lane;
  }

  // The part of a sorted list from `low` up to `high`, as indices.
  function between(list, low, high) {
    const find = (value) => {
      let from = 0, to = list.length;
      while (from < to) { const middle = (from + to) >> 1; if (list[middle] < value) from = middle + 1; else to = middle; }
      return from;
    };
    return [find(low), find(high)];
  }

  // One shape for each marker where they have room; otherwise their number, as bars at the foot of the lane.
  function drawMarkers(context, at, from, to, y, height) {
    for (const markers of [...line.markers].sort((a, b) => WEIGHT.indexOf(a.kind) - WEIGHT.indexOf(b.kind))) {
      const [first, last] = between(markers.at, from, to), left = line.bucket_cycles;
      const rest = markers.left_out.filter(([bucket]) => (bucket + 1) * left > from && bucket * left < to);
      const lane = laneOf(markers), room = (context.canvas.clientWidth - at.left) / (DENSE * 1.4);
      if (last - first <= room) {
        for (let i = first; i < last; i++) { context.beginPath(); SHAPES[markers.kind](context, at.x(markers.at[i]), y(lane) + height / 2); }
        if (rest.length === 0) continue;
      }
      const slots = new Map(), put = (x, count) => { const slot = Math.floor(x / 4); slots.set(slot, (slots.get(slot) || 0) + count); };
      if (last - first > room) for (let i = first; i < last; i++) put(at.x(markers.at[i]), 1);
      for (const [bucket, count] of rest) put(Math.max(at.x((bucket + 0.5) * left), at.left), count);
      const most = Math.max(...slots.values());
      context.fillStyle = style(COLORS[markers.kind]);
      for (const [slot, count] of slots) {
        const tall = 3 + (height - 12) * (count / most);
        context.fillRect(slot * 4, y(lane) + height - 3 - tall, 3, tall);
      }
    }
  }

  function step(span, room) {
    const rough = (span / data.cpu_hz) / Math.max(room / 110, 1), power = Math.pow(10, Math.floor(Math.log10(rough)));
    return [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= rough) * data.cpu_hz;
  }

  // Ticks at 1, 2 or 5 times a power of ten. Far from the start the digits that all ticks share stand once, at the left.
  function drawAxis(context, at, from, to, width, height) {
    const every = step(to - from, width - at.left), first = Math.ceil(from / every) * every;
    const digits = Math.log10(Math.max(to, 1) / every), base = digits > 4 ? Timeline.base(first, every, data.cpu_hz) : 0;
    context.fillStyle = style("--soft");
    if (base > 0) {
      context.textAlign = "left";
      context.fillText(Timeline.fit(context, this.time(base, 9) + " +", at.left - 6), 0, height - 6);
    }
    context.textAlign = "center";
    for (let index = 0, cycle = first; cycle <= to; cycle = first + ++index * every) {
      const x = at.x(cycle), text = Timeline.label((cycle - base) / data.cpu_hz, every / data.cpu_hz, (to - base) / data.cpu_hz);
      context.globalAlpha = 0.3;
      context.fillRect(x, BAND, 1, height - AXIS + 3 - BAND);
      context.globalAlpha = 1;
      const half = context.measureText(text).width / 2;
      if (x - half >= at.left - 14 && x + half <= width + 1) context.fillText(text, x, height - 6);
    }
  }

  this.drawOverview = function () {
    const row = lanes.length > 12 ? 7 : 11, height = lanes.length * row + 10;
    const { context, width } = prepare(overview, height);
    const at = scale(width, 0, whole);
    drawBand(context, at, 0, whole, covered(0, whole), 0, 6, false);
    lanes.forEach((_, lane) => drawBuckets(context, lane, lane * row + 8, row - 1, at, 0, whole, [], false));
    context.strokeStyle = style("--accent");
    context.fillStyle = style("--accent");
    const x = at.x(view.from), right = Math.max(at.x(view.to), x + 3);
    context.globalAlpha = 0.12;
    context.fillRect(x, 0, right - x, height);
    context.globalAlpha = 1;
    context.lineWidth = 1.5;
    context.strokeRect(x + 0.75, 0.75, right - x - 1.5, height - 1.5);
    context.fillStyle = style("--soft");
    context.fillText("whole run", 0, height / 2 + 4);
  };

  this.drawDetail = function () {
    const height = TOP + lanes.length * LANE + AXIS;
    const { context, width } = prepare(detail, height);
    const { from, to } = view, at = scale(width, from, to), y = (lane) => TOP + lane * LANE;
    context.fillStyle = style("--track");
    lanes.forEach((_, lane) => { context.globalAlpha = lane % 2 ? 0.25 : 0.55; context.fillRect(at.left, y(lane), width - at.left, LANE); });
    context.globalAlpha = 1;
    const cover = covered(from, to);
    for (const [begin, stop] of uncovered(from, to, cover)) hatch(context, at.x(begin), TOP, at.x(stop) - at.x(begin), lanes.length * LANE);
    drawAxis.call(this, context, at, from, to, width, height);
    drawBand(context, at, from, to, cover, 0, BAND, true);
    lanes.forEach((_, lane) => drawBuckets(context, lane, y(lane) + 5, LANE - 10, at, from, to, cover, true));
    drawSegments(context, cover, at, from, to, y, LANE);
    drawMarkers(context, at, from, to, y, LANE);
    if (cursor !== null && cursor >= from && cursor <= to) {
      context.fillStyle = style("--ink");
      context.fillRect(at.x(cursor) - 0.75, BAND, 1.5, lanes.length * LANE + 8);
    }
    context.textAlign = "left";
    lanes.forEach((entry, lane) => {
      context.fillStyle = color(entry.domain);
      context.fillRect(0, y(lane) + 8, 3, LANE - 16);
      context.fillStyle = style("--ink");
      context.fillText(Timeline.fit(context, entry.name, at.left - 18), 9, y(lane) + LANE / 2 + 4);
    });
  };

  this.draw = function () { this.drawOverview(); this.drawDetail(); this.tell(); };

  // Says in words what is shown: the stretch, and how much of it is exact.
  this.tell = function () {
    const { from, to } = view, known = covered(from, to).reduce((sum, { window }) => sum + Math.min(window.to, to) - Math.max(window.from, from), 0);
    const share = known / (to - from), percent = share >= 1 ? 100 : Math.floor(share * 1e4) / 100;
    shown.textContent = "Shown: " + this.time(from, 7) + " to " + this.time(to, 7) + ", " + this.time(to - from, 4) + " long, " + (percent >= 100 ? "exact" : percent === 0 ? "summed" : percent + " % of it exact");
  };

  // Shows a stretch and marks a cycle in it.
  this.go = function (from, to, at) { cursor = at; this.show(from, to); };

  this.show = function (from, to) {
    const span = Math.min(Math.max(to - from, MIN_SPAN), whole);
    const start = Math.min(Math.max(from, 0), whole - span);
    view = { from: start, to: start + span };
    this.draw();
  };
  this.zoom = function (factor, cycle) {
    const centre = cycle === undefined ? (view.from + view.to) / 2 : cycle;
    this.show(centre - (centre - view.from) * factor, centre + (view.to - centre) * factor);
  };
  this.pan = function (share) { const by = (view.to - view.from) * share; this.show(view.from + by, view.to + by); };
  this.all = function () { this.show(0, whole); };
  this.first = function () {
    const window = line.windows[0];
    if (window) this.show(window.from, Math.min(window.to, window.from + data.cpu_hz * 0.01)); else this.all();
  };
  this.view = () => view;
  this.cycleAt = (canvas, x) => scale(canvas.clientWidth, canvas === overview ? 0 : view.from, canvas === overview ? whole : view.to).cycle(x);

  // Object under a point of the detail: a marker, a segment, or the share of a bucket.
  this.describe = function (x, y) {
    const lane = Math.floor((y - TOP) / LANE), cycle = this.cycleAt(detail, x);
    if (lane < 0 || lane >= lanes.length || x < labels()) return null;
    const reach = ((view.to - view.from) / detail.clientWidth) * 7;
    for (const markers of line.markers.filter((entry) => laneOf(entry) === lane)) {
      const [first, last] = between(markers.at, cycle - reach, cycle + reach);
      if (last - first === 1) return Timeline.kinds[markers.kind] + " at " + this.time(markers.at[first], 6);
      if (last > first) return last - first + " × " + Timeline.kinds[markers.kind] + " around " + this.time(cycle, 6);
    }
    for (const { window, index } of covered(cycle, cycle + 1)) {
      for (let i = firstFrom(index, cycle - window.from - reach); i < window.segments.length; i++) {
        const [start, length, on, domain] = window.segments[i], begin = window.from + start;
        if (begin > cycle + reach / 7) break;
        if (on !== lane || begin + length < cycle - reach / 7) continue;
        const where = colors.has(domain) ? colors.get(domain).name : "?";
        return lanes[lane].name + (domain === lanes[lane].domain ? "" : " in " + where) + ": " + this.time(length) + " from " + this.time(begin, 6);
      }
      return lanes[lane].name + " did not run at " + this.time(cycle, 6);
    }
    const share = (line.overview[lane] || [])[Math.floor(cycle / line.bucket_cycles)];
    return lanes[lane].name + ": ran for " + Math.round((share || 0) / 2.55) + " % of " + this.time(line.bucket_cycles) + " (a sum) around " + this.time(cycle, 6);
  };

  this.tip = function (event) {
    const box = detail.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const text = this.describe(x, y);
    tip.hidden = text === null;
    if (text === null) return;
    tip.textContent = text;
    const width = detail.clientWidth;
    tip.style.left = Math.min(x + 12, width - Math.min(tip.offsetWidth + 4, width)) + "px";
    tip.style.top = detail.offsetTop + y + 16 + "px";
  };
}

Timeline.kinds = { fault: "fault", restart: "restart", late: "deadline missed", overrun: "overrun", budget_out: "budget exhausted", violation: "violation" };

// Text of a tick of the axis: enough digits that neighbours differ, in the largest unit that the last tick reaches and a tick is a tenth of.
Timeline.label = function (seconds, every, last) {
  const fits = (size) => last >= size && every >= size / 10.001;
  const unit = fits(1) ? [1, "s"] : fits(1e-3) ? [1e-3, "ms"] : [1e-6, "µs"];
  const places = Math.max(0, -Math.floor(Math.log10(every / unit[0]) + 1e-9));
  return (seconds / unit[0]).toFixed(places) + " " + unit[1];
};

// The part that the labels of an axis share: a multiple of a thousand ticks, or of the next round number above that.
Timeline.base = function (first, every, hz) {
  const unit = Math.pow(10, Math.ceil(Math.log10((every / hz) * 1000) - 1e-9)) * hz;
  return Math.floor(first / unit) * unit;
};

// Text cut to a width.
Timeline.fit = function (context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let cut = text;
  while (cut.length > 1 && context.measureText(cut + "…").width > width) cut = cut.slice(0, -1);
  return cut + "…";
};
