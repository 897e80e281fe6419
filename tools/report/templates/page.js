(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const detail = byId("detail"), overview = byId("overview"), tip = byId("tip");
  const timeline = new Timeline(data, overview, detail, tip);

  function wire() {
    const views = { all: () => timeline.all(), first: () => timeline.first(), in: () => timeline.zoom(0.5), out: () => timeline.zoom(2) };
    for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", views[button.dataset.view]);
    const jump = byId("jump");
    if (jump) jump.addEventListener("change", () => { if (jump.value !== "") timeline.show(...jump.value.split(",").map(Number)); });
    const keys = { ArrowLeft: () => timeline.pan(-0.2), ArrowRight: () => timeline.pan(0.2), "+": views.in, "=": views.in, "-": views.out, Home: views.first, End: views.all };
    detail.addEventListener("keydown", (event) => { if (keys[event.key]) { keys[event.key](); event.preventDefault(); } });
    detail.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      timeline.zoom(Math.exp(event.deltaY * 0.002), timeline.cycleAt(detail, event.offsetX));
    }, { passive: false });
    drag();
    addEventListener("resize", () => timeline.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => timeline.draw());
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
  timeline.first();
  const panels = [...document.querySelectorAll("[data-panel]")];
  panels.forEach(check);
  document.documentElement.dataset.panels = String(panels.length);
  document.documentElement.dataset.drawn = String(panels.filter((panel) => panel.dataset.done).length);
})();
