package simulate

import (
	"cmp"
	"slices"

	"capcli"
)

// WayUse is what jobs of one shape did on one number of GPUs of one model.
type WayUse struct {
	Shape    string         `json:"shape"`
	GPUModel string         `json:"gpu_model"` // of the pool; "" if it states none
	GPUs     int            `json:"gpus"`
	Starts   int64          `json:"starts"`         // stays that began
	Finished int64          `json:"finished_jobs"`  // jobs that ended so
	Held     capcli.GPUTime `json:"held_gpu_hours"` // GPU time of the stays
	Work     capcli.GPUTime `json:"work_gpu_hours"` // what they did, in GPU time of the jobs as they asked
	Repeated capcli.GPUTime `json:"lost_gpu_hours"` // work lost in stays that ended so, in the same
}

// WorkPerGPUHour returns the work done in each GPU-hour held; 0 if none was held.
func (w *WayUse) WorkPerGPUHour() float64 {
	if w.Held == 0 {
		return 0
	}
	return float64(w.Work) / float64(w.Held)
}

// Compare orders ways by the name of their shape, their model and their GPUs.
func (w *WayUse) Compare(o *WayUse) int {
	return cmp.Or(cmp.Compare(w.Shape, o.Shape), cmp.Compare(w.GPUModel, o.GPUModel), cmp.Compare(w.GPUs, o.GPUs))
}

// wayKey tells ways apart.
type wayKey struct {
	shape *capcli.Shape
	model string
	gpus  int
}

// countWay counts that l starts in its way.
func (sh *shapes) countWay(l *Live, p int) {
	key := wayKey{l.Shape, sh.e.c.pools[p].GPUModel, l.GPUs}
	u := sh.wayUse[key]
	if u == nil {
		if sh.wayUse == nil {
			sh.wayUse = map[wayKey]*WayUse{}
		}
		u = &WayUse{Shape: l.Shape.Name, GPUModel: key.model, GPUs: key.gpus}
		sh.wayUse[key] = u
	}
	u.Starts++
	l.mould.use = u
}

// add counts work seconds as asked that a stay of l did, or lost if it is below 0.
func (u *WayUse) add(l *Live, work capcli.Seconds) {
	d := capcli.GPUTime(int64(work) * l.askedMilli())
	if d < 0 {
		u.Repeated -= d
	} else {
		u.Work += d
	}
}

// countOpen counts the stay of l, which runs at the end of the run.
func (sh *shapes) countOpen(l *Live) {
	m := l.mould
	if m == nil || m.use == nil {
		return
	}
	if sh.e.c.now > l.Since {
		m.use.Held += capcli.GPUTime(int64(sh.e.c.now-l.Since) * l.Milli())
	}
	m.use.add(l, sh.e.progress(l)-(m.run-m.left.seconds()))
}

// wayRows returns what the ways did, by name of shape, model and GPUs.
func (sh *shapes) wayRows() []WayUse {
	if len(sh.wayUse) == 0 {
		return nil
	}
	rows := make([]WayUse, 0, len(sh.wayUse))
	for _, u := range sh.wayUse {
		rows = append(rows, *u)
	}
	slices.SortFunc(rows, func(a, b WayUse) int {
		return cmp.Or(a.Compare(&b), cmp.Compare(a.Held, b.Held), cmp.Compare(a.Work, b.Work), cmp.Compare(a.Starts, b.Starts))
	})
	out := rows[:0]
	for _, r := range rows { // jobs that asked for different things have shapes of the same name
		if n := len(out); n > 0 && out[n-1].Compare(&r) == 0 {
			last := &out[n-1]
			last.Starts += r.Starts
			last.Finished += r.Finished
			last.Held += r.Held
			last.Work += r.Work
			last.Repeated += r.Repeated
			continue
		}
		out = append(out, r)
	}
	return out
}
