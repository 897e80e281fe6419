(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const detail = byId("detail"), overview = byId("overview"), tip = byId("tip");
  const timeline = new Timeline(data, overview, detail, tip, byId("shown"));

  function wire() {
    const views = {
      all: () => timeline.all(), first: () => timeline.first(), in: () => timeline.zoom(0.5), out: () => timeline.zoom(2),
      left: () => timeline.pan(-0.2), right: () => timeline.pan(0.2), previous: () => turn(-1), next: () => turn(1),
    };
    for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", views[button.dataset.view]);
    if (jump) jump.addEventListener("change", () => go(jump.value));
    for (const link of document.querySelectorAll("[data-goto]")) link.addEventListener("click", () => go(link.dataset.goto));
    const keys = { ArrowLeft: views.left, ArrowRight: views.right, "+": views.in, "=": views.in, "-": views.out, Home: views.first, End: views.all, PageUp: views.previous, PageDown: views.next };
    detail.addEventListener("keydown", (event) => { if (keys[event.key]) { keys[event.key](); event.preventDefault(); } });
    detail.addEventListener("wheel", (event) => {
      // The wheel scrolls the page unless it is meant for the drawing.
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== detail) return;
      event.preventDefault();
      timeline.zoom(Math.exp(event.deltaY * 0.002), timeline.cycleAt(detail, event.offsetX));
    }, { passive: false });
    drag();
    addEventListener("resize", () => timeline.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => timeline.draw());
  }

  const jump = byId("jump");
  // Shows the stretch of a place: first cycle, first behind, the cycle itself.
  function go(place) {
    if (place === "") return;
    timeline.go(...place.split(",").map(Number));
    if (jump) jump.value = [...jump.options].some((option) => option.value === place) ? place : "";
  }
  function turn(by) {
    if (!jump) return;
    const last = jump.options.length - 1, next = jump.selectedIndex + by;
    jump.selectedIndex = next < 1 ? last : next > last ? 1 : next;
    go(jump.value);
  }

  function drag() {
    let last = null;
    detail.addEventListener("pointerdown", (event) => { last = event.clientX; detail.setPointerCapture(event.pointerId); detail.classList.add("drag"); });
    detail.addEventListener("pointermove", (event) => {
      if (last === null) { timeline.tip(event); return; }
      const by = timeline.cycleAt(detail, last) - timeline.cycleAt(detail, event.clientX), view = timeline.view();
      last = event.clientX;
      tip.hidden = true;
      timeline.show(view.from + by, view.to + by);
    });
    for (const end of ["pointerup", "pointercancel"]) detail.addEventListener(end, () => { last = null; detail.classList.remove("drag"); });
    detail.addEventListener("pointerleave", () => { tip.hidden = true; });
    overview.addEventListener("pointerdown", (event) => {
      const view = timeline.view(), half = (view.to - view.from) / 2, centre = timeline.cycleAt(overview, event.offsetX);
      timeline.show(centre - half, centre + half);
    });
  }

  // Paper shows everything, in the colours of paper.
  function paper() {
    let opened = [];
    addEventListener("beforeprint", () => { opened = [...document.querySelectorAll("details:not([open])")]; opened.forEach((part) => { part.open = !part.matches(".long"); }); timeline.draw(); });
    addEventListener("afterprint", () => { opened.forEach((part) => { part.open = false; }); timeline.draw(); });
  }

  // A panel is drawn when it has room and content, and when everything in it that a script draws has ink.
  function inked(canvas) {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    for (let i = 3; i < pixels.length; i += 4) if (pixels[i] !== 0) return true;
    return false;
  }
  function check(panel) {
    const name = panel.dataset.panel;
    if (panel.clientHeight < 40 || panel.textContent.trim() === "") return failed("panel " + name + " is empty");
    for (const canvas of panel.querySelectorAll("canvas")) if (!inked(canvas)) return failed("panel " + name + ": nothing drawn");
    for (const svg of panel.querySelectorAll("svg")) if (svg.childElementCount === 0) return failed("panel " + name + ": empty drawing");
    if (panel.scrollWidth > panel.clientWidth + 1) return failed("panel " + name + " is wider than the page");
    panel.dataset.done = "1";
  }

  wire();
  paper();
  // Failures are seen first.
  const failure = document.querySelector(".failures [data-goto]");
  if (failure) go(failure.dataset.goto); else timeline.first();
  const panels = [...document.querySelectorAll("[data-panel]")];
  panels.forEach(check);
  document.documentElement.dataset.panels = String(panels.length);
  document.documentElement.dataset.drawn = String(panels.filter((panel) => panel.dataset.done).length);
})();
