'use strict';
(() => {
  const at = (id) => document.getElementById(id);
  const form = at('live-form'), status = at('live-status'), heads = at('live-heads'), figures = at('live-figures');
  if (!form) return;
  const ready = status.textContent;
  const knobs = [...form.querySelectorAll('[data-path]')];
  const sliders = new Map([...form.querySelectorAll('[data-for]')].map((s) => [s.dataset.for, s]));
  const baseline = new Map([...heads.tBodies[0].rows].map((r) => [r.dataset.name, r]));
  const bytes = (id) => Uint8Array.from(atob(at(id).textContent), (c) => c.charCodeAt(0));

  // ask(operation, request) resolves to the document of the result.
  let post = null, last = 0, worker = null;
  const waiting = new Map();
  const settle = ({ number, text, failed }) => {
    const [resolve, reject] = waiting.get(number) || [];
    waiting.delete(number);
    if (!resolve) return;
    if (failed) return reject(new Error(failed));
    const answer = JSON.parse(text);
    if (answer.error) return reject(answer.error);
    resolve(answer);
  };
  const startWorker = () => {
    if (post) return;
    const text = new TextDecoder().decode(bytes('live-worker'));
    const address = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
    worker = new Worker(address);
    URL.revokeObjectURL(address);
    worker.onmessage = (e) => settle(e.data);
    worker.onerror = (e) => { for (const n of [...waiting.keys()]) settle({ number: n, failed: e.message || 'the engine could not be started' }); };
    post = (m, move) => worker.postMessage(m, move);
    const wasm = bytes('live-engine');
    send({ wasm, world: at('live-world').textContent }, [wasm.buffer]).catch((problem) => { if (problem !== stopped) fail(problem); });
  };
  // stop ends a run that is under way: the next question starts another worker.
  const stopped = new Error('stopped');
  let abort = null;
  const stop = () => {
    if (abort) abort.abort();
    if (!worker) return;
    worker.terminate();
    worker = post = null;
    for (const [, reject] of waiting.values()) reject(stopped);
    waiting.clear();
  };
  const send = (message, move) => new Promise((resolve, reject) => {
    const number = ++last;
    waiting.set(number, [resolve, reject]);
    post({ number, ...message }, move || []);
  });
  const server = form.ownerDocument.getElementById('live-server');
  const fetchAnswer = async (operation, request) => {
    const { run } = JSON.parse(server.textContent);
    abort = new AbortController();
    const { signal } = abort;
    let answer;
    try {
      const reply = await fetch('/v1/' + operation, { method: 'POST', signal, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ run, ...request }) });
      answer = await reply.json();
    } catch (problem) { throw signal.aborted ? stopped : problem; }
    if (answer.error) throw answer.error;
    return answer;
  };
  const ask = (operation, request) => {
    if (server) return fetchAnswer(operation, request);
    startWorker();
    return send({ operation, request: JSON.stringify(request) });
  };

  const isChanged = (k) => k.value !== k.dataset.value && !(k.type === 'number' && k.value !== '' && k.dataset.value !== '' && Number(k.value) === Number(k.dataset.value));
  const changes = () => knobs.filter((k) => isChanged(k) && k.value !== '').map((k) => ({ path: k.dataset.path, value: k.value }));
  const fail = (problem) => {
    status.className = 'wrong';
    status.textContent = (problem.text || problem.message || String(problem)) + (problem.hint ? '\n' + problem.hint : '');
  };
  const signed = (row, head) => {
    const base = row.dataset.base;
    if (head.value === null || base === undefined || base === '' || head.at_least || row.dataset.atLeast) return '';
    const by = head.value - Number(base);
    if (by === 0) return '';
    const sign = by > 0 ? '+' : '\u2212', size = Math.abs(by);
    switch (head.unit) {
      case 'usd': return sign + '$' + size.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
      case 'share': return sign + (size < 0.001 ? (100 * size).toPrecision(2) : (100 * size).toFixed(1)) + ' points';
      case 's': return sign + (size >= 7200 ? (size / 3600).toFixed(1) + ' h' : size >= 120 ? (size / 60).toFixed(0) + ' min' : size.toFixed(0) + ' s');
    }
    return sign + size.toLocaleString('en-US');
  };
  const show = (answer) => {
    for (const head of answer.headlines) {
      const row = baseline.get(head.name);
      if (!row) continue;
      row.cells[2].textContent = head.text;
      row.cells[3].textContent = signed(row, head);
      row.cells[2].dataset.value = head.value === null ? '' : String(head.value);
    }
    if (answer.command) at('live-command').textContent = answer.command;
    for (const [id, texts] of [['live-limits', (answer.limits || []).map((l) => l.limit + ': ' + l.text)], ['live-notes', answer.notes || []]]) {
      if (at(id) && texts.length) at(id).replaceChildren(...texts.map((text) => { const item = document.createElement('li'); item.textContent = text; return item; }));
    }
    for (const picture of answer.pictures || []) {
      const section = figures.querySelector('[data-id="' + picture.id + '"]');
      if (!section) continue;
      section.querySelector('.sentence').textContent = picture.sentence;
      section.querySelector('.live-plot').innerHTML = picture.svg;
      section.querySelector('.legend').replaceChildren(...picture.legend.map((entry) => {
        const item = document.createElement('li'), colour = document.createElement('i');
        colour.className = entry.class + ' ' + entry.style;
        item.append(colour, entry.name);
        return item;
      }));
    }
  };

  // What the page showed first, which needs no engine.
  const parts = ['live-command', 'live-figures', 'live-limits', 'live-notes'].map(at).filter(Boolean).map((part) => [part, part.innerHTML]);
  const showFirst = () => {
    for (const [part, html] of parts) part.innerHTML = html;
    for (const row of baseline.values()) {
      row.cells[2].textContent = row.cells[1].textContent;
      row.cells[3].textContent = '';
      row.cells[2].dataset.value = row.dataset.base;
    }
  };

  const known = new Map(); // answers by their changes
  const mostKnown = 200;
  let busy = false, again = false, timer = 0, begun = 0;
  const answerOnce = async () => {
    const now = changes(), key = JSON.stringify(now);
    begun = performance.now();
    if (!now.length) {
      showFirst();
      status.textContent = ready;
      return;
    }
    let answer = known.get(key);
    if (answer) {
      show(answer);
      status.textContent = 'As it was answered before.';
    } else {
      status.textContent = form.dataset.busy;
      answer = await ask('panel', { changes: now });
      show(answer);
      const took = (performance.now() - begun) / 1000;
      status.textContent = form.dataset.done + ' ' + took.toFixed(took < 1 ? 2 : 1) + ' s.';
      document.body.setAttribute('data-live-ms', (1000 * took).toFixed(0));
    }
    if (answer.later && !again) {
      const more = await ask(answer.later, { changes: now });
      answer.headlines.push(...more.headlines);
      delete answer.later;
      show(answer);
    }
    if (known.size >= mostKnown) known.clear();
    known.set(key, answer);
  };
  const answer = async () => {
    if (busy) {
      again = true;
      if (performance.now() - begun > 2000) stop(); // what it would say is not asked any more
      return;
    }
    busy = true;
    document.body.setAttribute('data-live', 'busy');
    do {
      again = false;
      status.className = '';
      try { await answerOnce(); } catch (problem) { if (problem !== stopped) fail(problem); }
    } while (again);
    busy = false;
    document.body.setAttribute('data-live', 'done');
  };

  // Each change can be taken back, at once: past has the values before it.
  const values = () => knobs.map((k) => k.value);
  const past = [], back = at('live-back');
  let before = values();
  const keep = () => {
    const now = values();
    if (now.every((v, i) => v === before[i])) return;
    past.push(before);
    before = now;
    back.disabled = false;
  };
  const takeBack = () => {
    keep(); // a change that is still being typed
    const state = past.pop();
    if (!state) return;
    before = state;
    knobs.forEach((k, i) => {
      k.value = state[i];
      if (sliders.has(k.id)) sliders.get(k.id).value = state[i];
    });
    back.disabled = !past.length;
    if (!past.length && document.activeElement === document.body) knobs[0].focus();
    if (busy) stop();
    changed(0);
  };
  const changed = (after = 120) => {
    for (const k of knobs) k.closest('.live-knob').classList.toggle('changed', isChanged(k));
    clearTimeout(timer);
    if (after) timer = setTimeout(answer, after); else answer();
  };
  form.addEventListener('input', (e) => {
    const t = e.target;
    if (t.dataset.for) at(t.dataset.for).value = t.value;
    else if (sliders.has(t.id)) sliders.get(t.id).value = t.value;
    changed(Number(form.dataset.delay));
  });
  form.addEventListener('change', keep);
  back.addEventListener('click', takeBack);
  form.addEventListener('keydown', (e) => {
    if (!e.altKey || e.key !== 'Backspace') return;
    e.preventDefault();
    takeBack();
  });
  // The engine starts when a reader comes to the knobs, so that the first answer takes no longer.
  if (!server) for (const sign of ['pointerover', 'focusin']) form.addEventListener(sign, startWorker, { once: true });
  form.addEventListener('reset', () => setTimeout(() => { keep(); if (busy) stop(); changed(0); }));
  // A first question, whose answer is not shown, makes the engine ready for the reader's.
  if (form.dataset.eager) setTimeout(() => ask('panel', { changes: [] }).catch(() => {}), 50);
  form.addEventListener('submit', (e) => e.preventDefault());
  const save = at('live-save');
  if (save) save.addEventListener('click', async () => {
    try {
      const { text, file } = await ask('jobs', {});
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
      link.download = file;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    } catch (problem) { fail(problem); }
  });
})();
