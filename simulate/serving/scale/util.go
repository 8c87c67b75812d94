package scale

import (
	"capcli"
	"capcli/simulate"
)

func init() {
	add("util", "by use over a window: one more at 80% over two minutes", newUtil,
		Setting{Name: "up_window", Doc: "window of the use that asks for more; default: 120s", Unit: Length, Default: 120, Lo: 1, Hi: maxSeconds},
		Setting{Name: "up_percent", Doc: "use that asks for more, in percent; default: 80", Default: 80, Lo: 0, Hi: 1e6},
		Setting{Name: "up_every", Doc: "time between two rises; default: 60s", Unit: Length, Default: 60, Hi: maxSeconds},
		Setting{Name: "up_step", Doc: "units of a rise; default: 1", Unit: Whole, Default: 1, Lo: 1, Hi: maxUnits},
		Setting{Name: "down_window", Doc: "window of the use that asks for fewer; default: 300s", Unit: Length, Default: 300, Lo: 1, Hi: maxSeconds},
		Setting{Name: "down_percent", Doc: "use below which it takes units back, in percent; default: 40", Default: 40, Lo: 0, Hi: 1e6},
		Setting{Name: "down_every", Doc: "time between two falls; default: 120s", Unit: Length, Default: 120, Hi: maxSeconds},
		Setting{Name: "down_step", Doc: "units of a fall; default: 1", Unit: Whole, Default: 1, Lo: 1, Hi: maxUnits},
	)
}

// util adds units while the use of all units over a window is at least a percentage, and takes units back
// while it is below another one, as managed endpoints document it (Hugging Face Inference Endpoints
// documentation, Autoscaling: 80% over two minutes). Use is served/(ready per unit), unknown until the
// window is full.
type util struct {
	min, max int
	up, down utilRule
	steps    []utilStep // of the longer window, a ring
	seen     int
}

// utilRule is one direction of util.
type utilRule struct {
	window, every capcli.Seconds
	percent       float64
	step          int

	acted        bool
	last         capcli.Seconds // time of the last change in this direction
	served, room int64          // sums over the window
}

// utilStep is a step of the window.
type utilStep struct{ served, room int64 }

func newUtil(v *values) (simulate.NewScaler, error) {
	rule := func(way string) utilRule {
		return utilRule{
			window: v.seconds(way + "_window"), every: v.seconds(way + "_every"),
			percent: v.number(way + "_percent"), step: v.count(way + "_step"),
		}
	}
	u := util{min: v.Min, max: v.Max, up: rule("up"), down: rule("down")}
	return func() simulate.Scaler { own := u; return &own }, nil
}

// Desired implements simulate.Scaler.
func (u *util) Desired(s *simulate.ScaleState) int {
	if u.steps == nil {
		u.steps = make([]utilStep, max(1, u.up.window/s.Length, u.down.window/s.Length))
	}
	now := utilStep{s.Served, int64(s.Ready) * s.PerUnit}
	u.look(&u.up, s.Length, now)
	u.look(&u.down, s.Length, now)
	u.steps[u.seen%len(u.steps)] = now
	u.seen++
	current := s.Ready + s.Loading
	least := max(1, u.min)
	switch {
	case current == 0:
	case u.isOver(&u.up, s.Length) && u.up.isFree(s.Now) && current < u.max:
		u.up.act(s.Now)
		return min(current+u.up.step, u.max)
	case u.isUnder(&u.down, s.Length) && u.down.isFree(s.Now) && current > least &&
		(!u.up.acted || s.Now-u.up.last >= u.down.window):
		u.down.act(s.Now)
		return max(current-u.down.step, least)
	}
	return current
}

// steps returns the steps of the window: whole ones, at least one.
func (r *utilRule) steps(length capcli.Seconds) int { return max(1, int(r.window/length)) }

// look adds the present step to the sums of a window, and drops the one that leaves it. It is called
// before the step is in the ring.
func (u *util) look(r *utilRule, length capcli.Seconds, now utilStep) {
	n := r.steps(length)
	r.served += now.served
	r.room += now.room
	if u.seen >= n {
		old := u.steps[(u.seen-n)%len(u.steps)]
		r.served -= old.served
		r.room -= old.room
	}
}

// isKnown reports whether the window is full and had units.
func (u *util) isKnown(r *utilRule, length capcli.Seconds) bool {
	return u.seen >= r.steps(length) && r.room > 0
}

func (u *util) isOver(r *utilRule, length capcli.Seconds) bool {
	return u.isKnown(r, length) && float64(r.served)*100 >= r.percent*float64(r.room)
}

func (u *util) isUnder(r *utilRule, length capcli.Seconds) bool {
	return u.isKnown(r, length) && float64(r.served)*100 < r.percent*float64(r.room)
}

// isFree reports whether the last change in the direction is long enough ago.
func (r *utilRule) isFree(now capcli.Seconds) bool { return !r.acted || now-r.last >= r.every }

func (r *utilRule) act(now capcli.Seconds) { r.acted, r.last = true, now }
