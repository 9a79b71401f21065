"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // Point at a cell: all maps of the same cells say its number and their value there.
  for (const group of document.querySelectorAll("figure .cells")) {
    const show = (event) => {
      const number = [...group.children].indexOf(event.target);
      if (number < 0) return;
      for (const other of document.querySelectorAll(`.cells[data-grid="${group.dataset.grid}"]`)) {
        const cell = other.children[number];
        const said = other.closest("figure").querySelector(".readout");
        if (said && cell) said.textContent = `Cell ${number}: ${cell.dataset.value} ${other.dataset.unit}`;
      }
    };
    group.addEventListener("pointerover", show);
    group.addEventListener("click", show);
  }

  // The film.
  const clips = JSON.parse(byId("film-clips").textContent);
  if (!clips.length || !byId("film-scene")) return;
  const pause = 0.6; // s between two pushes
  const starts = [];
  let length = 0;
  for (const clip of clips) {
    starts.push(length);
    length += clip.seconds + pause;
  }
  const slider = byId("film-time"), play = byId("film-play"), speed = byId("film-speed");
  const points = [...document.querySelectorAll("#distance-chart .point")];
  slider.max = length.toFixed(2);
  speed.value = length > 90 ? "10" : length > 40 ? "5" : length > 20 ? "2" : "1";
  document.querySelector("#film .controls").hidden = false;

  const between = (values, share) => {
    const at = Math.min(Math.max(share, 0), 1) * (values.length - 1);
    const i = Math.min(Math.floor(at), values.length - 2);
    return values[i].map((value, k) => value + (at - i) * (values[i + 1][k] - value));
  };
  const current = (time) => {
    let i = starts.length - 1;
    while (i > 0 && starts[i] > time) i--;
    return i;
  };
  const toggle = (element, visible) => {
    if (element) element.setAttribute("visibility", visible ? "visible" : "hidden");
  };

  const draw = () => {
    const time = Number(slider.value), i = current(time), clip = clips[i];
    const inside = time - starts[i], share = clip.seconds ? inside / clip.seconds : 1;
    const [x, y, angle] = between(clip.poses, share);
    byId("film-object").setAttribute("transform", `translate(${x} ${y}) rotate(${angle})`);
    const finger = byId("film-finger");
    // A finger that is raised has fewer places than the object has poses.
    const touching = clip.finger && share * (clip.poses.length - 1) <= clip.finger.length - 1;
    toggle(finger, touching);
    if (touching && clip.finger.length > 1) {
      const place = between(clip.finger, (share * (clip.poses.length - 1)) / (clip.finger.length - 1));
      finger.setAttribute("cx", place[0]);
      finger.setAttribute("cy", place[1]);
    }
    toggle(byId("film-centre"), clip.goal);
    toggle(byId("film-goal"), clip.goalPose);
    if (clip.goalPose) byId("film-goal").setAttribute("transform", clip.goalPose);
    toggle(byId("film-predicted"), clip.predicted);
    if (clip.predicted) byId("film-predicted").setAttribute("transform", clip.predicted);
    points.forEach((point, k) => point.classList.toggle("now", k === i));
    byId("film-caption").textContent = `${clip.name}, ${Math.min(inside, clip.seconds).toFixed(1)} s`;
  };

  let playing = false, before = 0;
  const label = () => {
    play.textContent = playing ? "❚❚" : "►";
    play.setAttribute("aria-label", playing ? "Pause" : "Play");
  };
  const step = (now) => {
    if (!playing) return;
    const time = Number(slider.value) + ((now - before) / 1000) * Number(speed.value);
    before = now;
    slider.value = Math.min(time, length);
    draw();
    if (time >= length) playing = false;
    label();
    requestAnimationFrame(step);
  };
  const seek = (time) => {
    slider.value = Math.min(Math.max(time, 0), length);
    draw();
  };
  play.addEventListener("click", () => {
    playing = !playing;
    if (playing && Number(slider.value) >= length - 0.02) seek(0);
    before = performance.now();
    label();
    requestAnimationFrame(step);
  });
  slider.addEventListener("input", draw);
  byId("film-previous").addEventListener("click", () => {
    const time = Number(slider.value), i = current(time);
    seek(time - starts[i] > 0.3 || i === 0 ? starts[i] : starts[i - 1]);
  });
  byId("film-next").addEventListener("click", () => {
    const i = current(Number(slider.value));
    seek(i + 1 < starts.length ? starts[i + 1] : length);
  });
  points.forEach((point, i) => point.addEventListener("click", () => seek(starts[i])));
  label();
  draw();
})();
