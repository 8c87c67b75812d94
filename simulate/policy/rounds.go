package policy

import (
	"slices"

	"capcli/simulate"

	"capcli"
)

// rounds is the part that policies share which divide the GPUs of a queue anew in each round, among
// waiting and running jobs. Jobs of other queues, jobs that the rules against preemption protect and jobs
// on overflow pools do not take part; the GPUs that they hold are not there.
type rounds struct {
	length capcli.Seconds
	engine bool // the run's own rounds give the times of turns
	last   capcli.Seconds
	played bool

	field []player
	left  []int64 // by pool: thousandths of GPUs that are free or held by players
	fresh bool    // whether jobs came or ended since the last round
	known []int64 // indices of the last round's players
	seen  hasWays
}

// hasWays notes whether a policy that chooses ways had a choice.
type hasWays struct{ jobs, chosen bool }

func (h *hasWays) note(l *simulate.Live) {
	h.jobs = true
	h.chosen = h.chosen || l.HasWays()
}

// remark returns a remark if no job had ways.
func (h *hasWays) remark(text string) string {
	if h.jobs && !h.chosen {
		return "no job can run in several ways (shapes:): " + text
	}
	return ""
}

// player is a job in a round.
type player struct {
	job     *simulate.Live
	running bool
	stays   bool // it runs, and stopping it now would lose all of its stay
}

// newRounds returns rounds of the run's length, or of another one where the run has none.
func newRounds(s simulate.Settings, length capcli.Seconds) rounds {
	if s.Round > 0 {
		return rounds{length: s.Round, engine: true, last: -1}
	}
	return rounds{length: length, last: -1}
}

// Preempts declares that policies in rounds take GPUs away from running jobs.
func (*rounds) Preempts() {}

// Resizes declares that they choose ways themselves.
func (*rounds) Resizes() {}

// begin starts a round, if it is time for one, and gathers its players in order of arrival. It reports
// whether there are any. Jobs without GPUs start in any turn.
func (r *rounds) begin(t *simulate.Turn) bool {
	if t.CPUJobs() {
		for l := range t.Queue() {
			if l.GPUs == 0 {
				t.Start(l)
			}
		}
	}
	now := t.Now()
	switch {
	case r.played && now == r.last:
		return false
	case !r.engine && now%r.length != 0:
		t.WakeAt(now - now%r.length + r.length)
		return false
	}
	r.last, r.played = now, true
	r.gather(t)
	return len(r.field) > 0
}

// end asks for the next round, if there is something to decide again: a job runs, or was stopped in this
// turn. Without it, an event does.
func (r *rounds) end(t *simulate.Turn) {
	for i := range r.field {
		if r.field[i].running || r.field[i].job.Running() {
			t.WakeAt(r.last + r.length)
			return
		}
	}
}

// gather lists the players and what is there for them.
func (r *rounds) gather(t *simulate.Turn) {
	if len(r.left) == 0 {
		r.left = make([]int64, t.Cluster().Pools())
	}
	clear(r.left)
	for _, p := range t.AllPools() {
		r.left[p] = t.Cluster().Usable(p)
	}
	r.field = r.field[:0]
	for l := range t.Queue() {
		if l.Waiting() && l.GPUs > 0 {
			r.field = append(r.field, player{job: l})
			r.seen.note(l)
		}
	}
	for l := range t.Running() {
		if t.Preemption().Preemptible(l) {
			r.field = append(r.field, player{l, true, r.mustStay(t, l)})
			r.left[l.Pool()] += l.Milli()
		}
	}
	slices.SortFunc(r.field, func(a, b player) int { return int(a.job.Index() - b.job.Index()) })
	r.fresh = len(r.known) != len(r.field)
	for i := 0; i < len(r.field) && !r.fresh; i++ {
		r.fresh = r.known[i] != r.field[i].job.Index()
	}
	r.known = r.known[:0]
	for i := range r.field {
		r.known = append(r.known, r.field[i].job.Index())
	}
}

// mustStay reports whether running job l would make no progress that stands if it stopped now: it has not
// yet had a round of work after its restart, or no checkpoint in this stay.
func (r *rounds) mustStay(t *simulate.Turn, l *simulate.Live) bool {
	c, mode := l.Saves(), t.Preemption().Restarts().Mode
	least := r.length
	switch {
	case mode == simulate.Scratch || mode == simulate.Checkpoint && c.Interval <= 0:
		return true
	case mode == simulate.Checkpoint:
		least = max(least, c.Interval+c.Cost+c.Write)
	}
	return t.Now()-l.Since < l.Overhead()+least
}
