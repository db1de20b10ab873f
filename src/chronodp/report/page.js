(() => {
  "use strict";

  const DAY = 86_400_000;
  const LINES = 6; // colours of lines in the style sheet
  const element = (id) => document.getElementById(id);
  const read = (id) => JSON.parse(element(id).textContent);
  const root = document.documentElement;
  const chart = element("chart");
  const darkness = window.matchMedia("(prefers-color-scheme: dark)");

  const theme = () => root.dataset.theme || (darkness.matches ? "dark" : "light");

  // The style sheet alone knows the colours: an element that wears one says what it is in the theme of the moment.
  const colour = (name) => {
    const probe = document.createElement("i");
    probe.style.color = `var(${name})`;
    root.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };

  const colours = () => {
    const [text, edge, rule, sheet] = ["--soft", "--edge", "--rule", "--sheet"].map(colour);
    return {
      paper_bgcolor: sheet, // the same as behind it, but plotly now knows what it draws on
      plot_bgcolor: sheet,
      "font.color": text,
      "xaxis.gridcolor": rule,
      "xaxis.linecolor": edge,
      "xaxis.spikecolor": text,
      "xaxis.rangeslider.bordercolor": rule,
      "yaxis.gridcolor": rule,
      "yaxis.zerolinecolor": text,
      "hoverlabel.bgcolor": sheet,
      "hoverlabel.bordercolor": rule,
      "hoverlabel.font.color": colour("--ink"),
    };
  };

  // Lines, and the edges of their bands, in the theme's colours: the group of a trace is the number of its line.
  const inks = (traces) => {
    const lines = Array.from({ length: LINES }, (_, place) => colour(`--line-${place + 1}`));
    const own = traces.map((trace) => lines[Number(trace.legendgroup) % LINES]);
    const filled = ({ fillcolor }) => /([\d.]+)\)$/.exec(fillcolor ?? "")?.[1] ?? 0;
    const clear = (ink, part) => ink.replace(/^rgb\((.*)\)$/, `rgba($1, ${part})`);
    return {
      "line.color": own,
      "marker.color": own,
      "marker.line.color": own,
      "error_y.color": own,
      fillcolor: own.map((ink, place) => clear(ink, filled(traces[place]))),
    };
  };

  const refit = (change) => {
    if (!chart.layout) return;
    const ours = chart.data.map((_, place) => place).filter((place) => /^\d+$/.test(chart.data[place].legendgroup));
    const looks = { ...colours(), ...change };
    if (ours.length) Plotly.update(chart, inks(ours.map((place) => chart.data[place])), looks, ours);
    else Plotly.relayout(chart, looks); // a figure of other lines than series has its own colours
  };

  // Without a graphics card a browser imitates one, and that is slower than SVG.
  const hasGraphicsCard = () => {
    const context = document.createElement("canvas").getContext("webgl", { failIfMajorPerformanceCaveat: true });
    if (!context) return false;
    const names = context.getExtension("WEBGL_debug_renderer_info");
    const card = context.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : context.RENDERER);
    return !/swiftshader|llvmpipe|software|basic render/i.test(card);
  };

  // Plotly cuts a name in the legend where the chart ends. A sign that is written as &amp; is one, and stays whole.
  const wrapped = (name, room) => {
    const words = name.split(" ").flatMap((word) => word.match(new RegExp(`(?:&#?\\w+;|.){1,${room}}`, "gsu")) ?? [""]);
    const lines = [];
    for (const word of words) {
      const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
      if (lines.length && longer.length <= room) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines.join("<br>");
  };

  const draw = async () => {
    const { data, layout } = read("figure");
    const room = Math.max(12, Math.floor((chart.clientWidth - 140) / 7)); // letters, beside the axis and the sample of a line
    for (const trace of data) if (trace.name?.length > room) trace.name = wrapped(trace.name, room);
    const buttons = layout.xaxis?.rangeselector?.visible ? layout.xaxis.rangeselector.buttons : [];
    if (layout.xaxis) delete layout.xaxis.rangeselector; // ours can be reached by keyboard
    delete layout.title; // it is the heading
    layout.margin = { l: 16, r: 20, t: 20, b: 12 };
    if (layout.legend) layout.legend.maxheight = 0.25;
    // A finger that scrolls the page must not be caught by the chart.
    if (window.matchMedia("(hover: none), (pointer: coarse)").matches) layout.dragmode = false;
    if (!hasGraphicsCard()) {
      for (const trace of data) trace.type = trace.type === "scattergl" ? "scatter" : trace.type;
    }
    chart.textContent = "";
    await Plotly.newPlot(chart, data, layout, { displayModeBar: false, displaylogo: false, responsive: true });
    offerSpans(buttons);
  };

  const offerSpans = (buttons) => {
    const group = element("spans");
    const press = (pressed) => {
      for (const button of group.children) button.setAttribute("aria-pressed", String(button === pressed));
    };
    for (const { label, step, count } of buttons) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = label;
      button.addEventListener("click", () => {
        const change = step === "all" ? { "xaxis.autorange": true } : { "xaxis.range": lastDays(count) };
        Plotly.relayout(chart, change).then(() => press(button));
      });
      group.append(button);
    }
    group.hidden = buttons.length === 0;
    press(group.lastElementChild);
    chart.on("plotly_relayout", (change) => {
      if (Object.keys(change).some((key) => /^xaxis\.range(\[\d\])?$/.test(key))) press(null);
      if (change["xaxis.autorange"]) press(group.lastElementChild);
    });
  };

  // Plotly writes a moment as the clock showed it, without a zone; counting in UTC keeps days 24 hours long.
  const lastDays = (count) => {
    const [date, clock = "00:00"] = String(chart.layout.xaxis.range[1]).split(/[ T]/);
    const end = Date.parse(`${date}T${clock.slice(0, 12)}Z`);
    return [end - count * DAY, end].map((moment) => new Date(moment).toISOString().slice(0, -1));
  };

  const download = () => {
    const address = URL.createObjectURL(new Blob([read("csv")], { type: "text/csv;charset=utf-8" }));
    const link = document.createElement("a");
    link.href = address;
    link.download = element("download").dataset.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };

  const repaint = () => {
    const other = theme() === "dark" ? "Light" : "Dark";
    element("theme").textContent = other;
    element("theme").setAttribute("aria-label", `${other} colours`);
    refit({});
  };

  const offerThemes = () => {
    element("theme").hidden = false;
    element("theme").addEventListener("click", () => {
      root.dataset.theme = theme() === "dark" ? "light" : "dark";
      repaint();
    });
    darkness.addEventListener("change", repaint);
    repaint();
  };

  // Paper is white, narrower than a screen, and nothing on it slides.
  const fitPaper = () => {
    const slider = chart.layout?.xaxis?.rangeslider?.visible;
    let chosen;
    window.addEventListener("beforeprint", () => {
      chosen = root.dataset.theme;
      root.dataset.theme = "light";
      refit({ width: 660, height: 340, "xaxis.rangeslider.visible": false });
    });
    window.addEventListener("afterprint", () => {
      if (chosen) root.dataset.theme = chosen;
      else delete root.dataset.theme;
      refit({ width: null, height: null, autosize: true, "xaxis.rangeslider.visible": slider });
    });
  };

  const start = async () => {
    element("download").hidden = false;
    element("download").addEventListener("click", download);
    try {
      await draw();
    } catch (error) {
      chart.className = "";
      chart.textContent = "The chart could not be drawn. The table below holds the same numbers.";
      console.error(error);
    }
    offerThemes();
    fitPaper();
  };

  start();
})();
