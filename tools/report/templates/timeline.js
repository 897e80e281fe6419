"use strict";
// The timeline: an overview of the whole run and a view that can be moved and zoomed. Where a window with every segment covers
// the view, segments are drawn; elsewhere the overview's buckets are.
function Timeline(data, overview, detail, tip) {
  const LANE = 26, AXIS = 24, TOP = 4, MIN_SPAN = 200;
  const line = data.timeline, whole = Math.max(line.cycles, 1);
  const lanes = data.lanes, colors = new Map(data.domains.map((domain) => [domain.index, domain]));
  const starts = line.windows.map((window) => window.segments.map((segment) => segment[0]));
  let view = { from: 0, to: whole };

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

  function drawBuckets(context, lane, y, height, at, from, to, cover) {
    const width = line.bucket_cycles, row = line.overview[lane] || [];
    const first = Math.max(Math.floor(from / width), 0), last = Math.min(Math.ceil(to / width), row.length);
    context.fillStyle = color(lanes[lane].domain);
    for (let bucket = first; bucket < last; bucket++) {
      if (row[bucket] === 0) continue;
      const start = bucket * width, end = start + width;
      const share = Math.max(row[bucket] / 255, 0.06);
      context.globalAlpha = 0.85;
      for (const [begin, stop] of uncovered(Math.max(start, from), Math.min(end, to), cover)) {
        const x = at.x(begin), right = at.x(stop);
        context.fillRect(x, y + height * (1 - share), Math.max(right - x, 0.6), height * share);
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

  const SHAPES = {
    fault: (c, x, y) => { c.fillStyle = style("--bad"); c.moveTo(x, y - 6); c.lineTo(x + 6, y); c.lineTo(x, y + 6); c.lineTo(x - 6, y); c.fill(); },
    restart: (c, x, y) => { c.strokeStyle = style("--good"); c.lineWidth = 2; c.arc(x, y, 4.5, 0, 7); c.stroke(); },
    late: (c, x, y) => { c.fillStyle = style("--bad"); c.moveTo(x - 5, y - 5); c.lineTo(x + 5, y - 5); c.lineTo(x, y + 5); c.fill(); },
    overrun: (c, x, y) => SHAPES.late(c, x, y),
    budget_out: (c, x, y) => { c.fillStyle = style("--amber"); c.arc(x, y, 3.6, 0, 7); c.fill(); },
    violation: (c, x, y) => { c.fillStyle = style("--bad"); c.rect(x - 5, y - 5, 10, 10); c.fill(); },
  };

  function laneOf(marker) {
    if (marker.lane !== null) return marker.lane;
    const lane = lanes.findIndex((entry) => entry.domain === marker.domain);
    return lane < 0 ? 0 : lane;
  }

  function drawMarkers(context, at, from, to, y, height) {
    for (const marker of line.markers) {
      if (marker.at < from || marker.at > to) continue;
      context.beginPath();
      SHAPES[marker.kind](context, at.x(marker.at), y(laneOf(marker)) + height / 2);
    }
  }

  function step(span, room) {
    const rough = (span / data.cpu_hz) / Math.max(room / 110, 1), power = Math.pow(10, Math.floor(Math.log10(rough)));
    return [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= rough) * data.cpu_hz;
  }

  function drawAxis(context, at, from, to, width, height) {
    const every = step(to - from, width - at.left);
    context.fillStyle = style("--faint");
    context.textAlign = "center";
    for (let cycle = Math.ceil(from / every) * every; cycle <= to; cycle += every) {
      const x = at.x(cycle), text = Timeline.label(cycle / data.cpu_hz, every / data.cpu_hz);
      context.globalAlpha = 0.35;
      context.fillRect(x, 0, 1, height - AXIS + 3);
      context.globalAlpha = 1;
      const half = context.measureText(text).width / 2;
      if (x - half >= at.left - 14 && x + half <= width + 1) context.fillText(text, x, height - 6);
    }
  }

  this.drawOverview = function () {
    const row = lanes.length > 12 ? 7 : 11, height = lanes.length * row + 4;
    const { context, width } = prepare(overview, height);
    const at = scale(width, 0, whole);
    lanes.forEach((_, lane) => drawBuckets(context, lane, lane * row + 2, row - 1, at, 0, whole, []));
    context.strokeStyle = style("--accent");
    context.fillStyle = style("--accent");
    const x = at.x(view.from), right = Math.max(at.x(view.to), x + 3);
    context.globalAlpha = 0.12;
    context.fillRect(x, 0, right - x, height);
    context.globalAlpha = 1;
    context.lineWidth = 1.5;
    context.strokeRect(x + 0.75, 0.75, right - x - 1.5, height - 1.5);
    context.fillStyle = style("--faint");
    context.fillText("whole run", 0, height / 2 + 4);
  };

  this.drawDetail = function () {
    const height = TOP + lanes.length * LANE + AXIS;
    const { context, width } = prepare(detail, height);
    const { from, to } = view, at = scale(width, from, to), y = (lane) => TOP + lane * LANE;
    context.fillStyle = style("--track");
    lanes.forEach((_, lane) => { context.globalAlpha = lane % 2 ? 0.25 : 0.55; context.fillRect(at.left, y(lane), width - at.left, LANE); });
    context.globalAlpha = 1;
    drawAxis(context, at, from, to, width, height);
    const cover = covered(from, to);
    lanes.forEach((_, lane) => drawBuckets(context, lane, y(lane) + 5, LANE - 10, at, from, to, cover));
    drawSegments(context, cover, at, from, to, y, LANE);
    drawMarkers(context, at, from, to, y, LANE);
    context.textAlign = "left";
    lanes.forEach((entry, lane) => {
      context.fillStyle = color(entry.domain);
      context.fillRect(0, y(lane) + 8, 3, LANE - 16);
      context.fillStyle = style("--ink");
      context.fillText(Timeline.fit(context, entry.name, at.left - 18), 9, y(lane) + LANE / 2 + 4);
    });
  };

  this.draw = function () { this.drawOverview(); this.drawDetail(); };

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

  // What lies under a point of the detail: a marker, a segment, or the share of a bucket.
  this.describe = function (x, y) {
    const lane = Math.floor((y - TOP) / LANE), cycle = this.cycleAt(detail, x);
    if (lane < 0 || lane >= lanes.length || x < labels()) return null;
    const reach = ((view.to - view.from) / detail.clientWidth) * 7;
    const marker = line.markers.find((m) => laneOf(m) === lane && Math.abs(m.at - cycle) < reach);
    if (marker) return Timeline.kinds[marker.kind] + " at " + this.time(marker.at, 6);
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
    return lanes[lane].name + ": ran " + Math.round((share || 0) / 2.55) + " % of " + this.time(line.bucket_cycles) + " around " + this.time(cycle, 6);
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

// Text of a tick of the axis: enough digits that neighbours differ.
Timeline.label = function (seconds, every) {
  const unit = every >= 1 ? [1, "s"] : every >= 1e-3 ? [1e-3, "ms"] : [1e-6, "µs"];
  const places = Math.max(0, -Math.floor(Math.log10(every / unit[0]) + 1e-9));
  return (seconds / unit[0]).toFixed(places) + " " + unit[1];
};

// Text cut to a width.
Timeline.fit = function (context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let cut = text;
  while (cut.length > 1 && context.measureText(cut + "…").width > width) cut = cut.slice(0, -1);
  return cut + "…";
};
