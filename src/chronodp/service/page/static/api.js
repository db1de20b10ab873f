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

  get(path, signal) {
    return this.#send("GET", path, undefined, signal);
  }

  // A page of a list, with where the next one begins; null if it is the last.
  page(path, signal) {
    const read = (lines, headers) => ({ lines, next: headers.get("X-Next") });
    return this.#send("GET", path, undefined, signal, read);
  }

  post(path, content, signal) {
    return this.#send("POST", path, content, signal);
  }

  remove(path, signal) {
    return this.#send("DELETE", path, undefined, signal);
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

  async #send(method, path, content, signal, read = (found) => found) {
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
    if (answer.status === 204) return null;
    const found = await answer.json().catch((error) => {
      if (error.name === "AbortError") throw error; // nobody waits for it any more
      return null;
    });
    if (answer.ok) return read(found, answer.headers);
    const refused = new Refused(found?.error ?? LOST, answer.status, found);
    if (answer.status === 401 && path !== "/session") this.signedOut();
    throw refused;
  }
}
