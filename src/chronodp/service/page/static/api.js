// The curator's API under the page's cookie; whatever it refuses is thrown in the API's one shape.

export class Refused extends Error {
  constructor(problem, status, content = null) {
    super(problem.message);
    this.problem = problem;
    this.status = status;
    this.content = content; // of an answer that is no refusal, such as that of a service that works in part
  }
}

const ROOT = "/api/v1";
const LOST = {
  kind: "unavailable",
  message: "The curator cannot be reached.",
  mend: "Try again: with the same request id nothing is paid twice.",
};

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export const address = (path) => ROOT + path;

export class Api {
  constructor() {
    this.csrf = "";
    this.signedOut = () => {};
  }

  async get(path, signal) {
    return (await this.#send("GET", path, undefined, signal)).found;
  }

  // One page of a list, and where the next begins; null after the last.
  async page(path, signal) {
    const { found, next } = await this.#send("GET", path, undefined, signal);
    return { lines: found, next };
  }

  async post(path, content, signal) {
    return (await this.#send("POST", path, content, signal)).found;
  }

  async remove(path, signal) {
    return (await this.#send("DELETE", path, undefined, signal)).found;
  }

  async signIn(token) {
    this.csrf = (await this.post("/session", { token })).csrf;
  }

  async resume() {
    this.csrf = (await this.get("/session")).csrf;
  }

  async signOut() {
    await this.#send("DELETE", "/session");
    this.csrf = "";
  }

  async #send(method, path, content, signal) {
    const headers = { Accept: "application/json" };
    if (method !== "GET") headers["X-CSRF-Token"] = this.csrf;
    if (content !== undefined) headers["Content-Type"] = "application/json";
    const request = { method, headers, signal, body: JSON.stringify(content), credentials: "same-origin" };
    let answer;
    try {
      answer = await fetch(ROOT + path, request);
      if (answer.status === 429) {
        await pause(1000);
        answer = await fetch(ROOT + path, request);
      }
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Refused(LOST, 0);
    }
    if (answer.status === 204) return { found: null };
    const found = await answer.json().catch((error) => {
      if (error.name === "AbortError") throw error; // nobody waits for it any more
      return null;
    });
    // An answer that was cut off is none.
    if (answer.ok && found !== null) return { found, next: answer.headers.get("X-Next") };
    const refused = new Refused(found?.error ?? LOST, answer.status, found);
    if (answer.status === 401 && path !== "/session") this.signedOut();
    throw refused;
  }
}
