// The page: who is signed in, which view is shown, and in which colours.

import { Api, Refused } from "./api.js";
import { repaint } from "./chart.js";
import { make, oneLine, say } from "./dom.js";
import { refusalBox } from "./refusal.js";
import { show as ask } from "./views/ask.js";
import { show as budget } from "./views/budget.js";
import { show as check } from "./views/check.js";
import { show as claims } from "./views/claims.js";
import { show as datasets } from "./views/datasets.js";
import { show as desk } from "./views/desk.js";
import { show as live } from "./views/live.js";
import { show as release } from "./views/release.js";
import { show as releases } from "./views/releases.js";
import { show as signIn } from "./views/sign-in.js";

const EVERYONE = ["owner", "analyst", "auditor"];
const VIEWS = {
  datasets: { name: "Datasets", roles: EVERYONE, show: datasets },
  ask: { name: "Ask", roles: ["owner", "analyst"], show: ask },
  releases: { name: "Releases", roles: EVERYONE, show: releases },
  budget: { name: "Budget", roles: EVERYONE, show: budget },
  live: { name: "Live", roles: EVERYONE, show: live },
  claims: { name: "Claims", roles: EVERYONE, show: claims },
  check: { name: "Check", roles: EVERYONE, show: check },
  desk: { name: "Desk", roles: ["owner", "auditor"], show: desk },
};

const root = document.documentElement;
const element = (id) => document.getElementById(id);
const main = element("main");
const title = document.title;

class Page {
  constructor() {
    this.api = new Api();
    this.api.signedOut = () => this.askToSignIn("The session has ended.");
    this.me = null;
    this.leaving = new AbortController();
  }

  async start() {
    offerThemes();
    element("sign-out").addEventListener("click", async () => {
      await this.api.signOut().catch(() => {});
      this.askToSignIn("You are signed out.");
    });
    window.addEventListener("hashchange", () => this.me && this.show());
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault(); // the address says which view is shown
      main.focus();
    });
    if (!("signedIn" in root.dataset)) return this.askToSignIn();
    try {
      await this.api.resume();
    } catch (error) {
      return this.askToSignIn(error.status === 401 ? "The session has ended." : error.message);
    }
    return this.enter();
  }

  async enter() {
    try {
      this.me = await this.api.get("/me");
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return this.askToSignIn(error.message);
    }
    const { name, role } = this.me;
    element("who").textContent = oneLine(name === role ? name : `${name}, ${role}`);
    element("sign-out").hidden = false;
    const nav = document.querySelector("nav");
    const allowed = Object.entries(VIEWS).filter(([, view]) => view.roles.includes(this.me.role));
    nav.replaceChildren(...allowed.map(([key, view]) => make("a", { href: `#/${key}` }, view.name)));
    nav.hidden = false;
    return this.show();
  }

  askToSignIn(why = "") {
    this.leaving.abort();
    this.me = null;
    document.querySelector("nav").hidden = true;
    element("sign-out").hidden = true;
    element("who").textContent = "";
    document.title = `Sign in · ${title}`;
    signIn(main, { api: this.api, why, enter: () => this.enter() });
    settle(why || "Sign in");
  }

  async show() {
    this.leaving.abort();
    this.leaving = new AbortController();
    const [key, ...rest] = readHash();
    const found = key === "releases" && rest.length === 2 ? { ...VIEWS.releases, show: release } : VIEWS[key];
    const view = found?.roles.includes(this.me.role) ? found : VIEWS.datasets;
    for (const link of document.querySelectorAll("nav a")) {
      if (link.textContent === view.name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.title = `${view.name} · ${title}`;
    const { signal } = this.leaving;
    main.setAttribute("aria-busy", "true");
    delete main.dataset.shown;
    try {
      const tellHealth = () => this.tellHealth();
      await view.show(main, { api: this.api, me: this.me, signal, tellHealth }, ...rest);
    } catch (error) {
      if (error.name === "AbortError" || signal.aborted) return;
      if (!(error instanceof Refused)) throw error;
      main.replaceChildren(make("h1", {}, view.name), refusalBox(error.problem));
    }
    if (signal.aborted) return;
    main.removeAttribute("aria-busy");
    main.dataset.shown = location.hash;
    settle(view.name);
    this.tellHealth();
  }

  async tellHealth() {
    const health = await this.api.get("/health").catch((error) => error.content ?? null);
    const banner = element("banner");
    banner.hidden = health?.status === "ok";
    if (!banner.hidden) banner.textContent = `Nothing can be released now: ${health?.why ?? "the curator is away"}.`;
  }
}

const readHash = () => {
  try {
    return location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  } catch {
    return [""]; // an address that someone mistyped
  }
};

// Whoever listens instead of looking is told where they are.
const settle = (name) => {
  const heading = main.querySelector("h1");
  heading?.setAttribute("tabindex", "-1");
  if (!main.contains(document.activeElement) || document.activeElement === main) heading?.focus();
  window.scrollTo(0, 0);
  say(name);
};

const offerThemes = () => {
  const button = element("theme");
  const darkness = window.matchMedia("(prefers-color-scheme: dark)");
  const now = () => root.dataset.theme || (darkness.matches ? "dark" : "light");
  const paint = () => {
    const other = now() === "dark" ? "Light" : "Dark";
    button.textContent = other;
    button.setAttribute("aria-label", `${other} colours`);
    repaint();
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = now() === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // The choice then lasts as long as the page.
    }
    paint();
  });
  darkness.addEventListener("change", paint);
  paint();
};

new Page().start();
