package cause

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"capcli/simulate"
	"capcli/simulate/placement"

	"capcli"
)

// Waits records during a run why its jobs wait. Each second of a wait counts for one
// set of causes: the set that holds since the end of the previous instant. Waits does
// not change the run. Jobs that are alike (same pools, size, quota and patience) wait
// for the same causes at the same time, so it keeps a clock for each kind of waiting
// job and a few numbers for each live job.
//
// A Waits observes one run. Its answers are valid after the run.
type Waits struct {
	Over capcli.Seconds // tell apart the jobs whose first start came after waiting at least this

	run       *simulate.View
	probe     simulate.Placement
	rows      []Cause                       // sets of causes met so far
	at        map[Cause]int                 // their places
	kinds     map[alikeKey]*alike           // kinds of waiting jobs
	active    []*alike                      // those of which some wait
	notes     []*wait                       // by the jobs' slots
	strangers map[*simulate.Reach]*[2][]int // see elsewhere
	world     whatIfs
	fault     error

	first  []Row // waits for the first start of the jobs told apart
	all    int64 // jobs that started
	jobs   int64 // of those told apart
	sum    capcli.Seconds
	again  []capcli.Seconds // by row: waits after a job lost its GPUs, all jobs
	still  []capcli.Seconds // by row: waits of jobs that never started
	stillN int64
}

var _ interface {
	simulate.Observer
	simulate.Watcher
	simulate.Ripener
	simulate.Settler
	simulate.Closer
	simulate.Checker
} = (*Waits)(nil)

// Row is the waits for one set of causes.
type Row struct {
	Cause    Cause
	Jobs     int64             // that waited for it at all
	Time     capcli.Seconds    // job-seconds
	Tenants  []capcli.Seconds  // of Time, by the record's tenants; may be shorter
	Models   []ModelWait       // of Time, by what the jobs asked for, largest first
	Sizes    []SizeWait        // of Time, by the jobs' GPUs
	Weekdays [7]capcli.Seconds // of Time, by the day of submission (UTC), Sunday first
	Months   []MonthWait       // of Time, by the month of submission (UTC), in order
}

// ModelWait is the wait of jobs of one partition and wished model.
type ModelWait struct {
	Partition, GPUModel string
	Time                capcli.Seconds
}

// SizeWait is the wait of jobs with one number of GPUs.
type SizeWait struct {
	GPUs int
	Time capcli.Seconds
}

// MonthWait is the wait of jobs submitted in one month.
type MonthWait struct {
	Year  int
	Month time.Month
	Time  capcli.Seconds
}

// alikeKey is what jobs have in common that wait for the same causes.
type alikeKey struct {
	class      *simulate.Reach
	gpus, part int
	cpu, mem   int64
	gpuMem     int64
	tenant     *simulate.Tenant // nil: without a quota
	opened     bool             // may go beyond the first rank
	never      bool             // will never go there
}

// alike is the clock of one kind of waiting job.
type alike struct {
	key   alikeKey
	job   *simulate.Live // stands for any of them
	n     int            // that wait
	row   int
	since capcli.Seconds
	spent []capcli.Seconds // by row
}

// wait is what is recorded of one job.
type wait struct {
	alike  *alike
	began  []capcli.Seconds // the kind's clock when the job joined it
	first  []capcli.Seconds // by row
	later  []capcli.Seconds // by row: after the first stay
	begins capcli.Seconds   // when it has the GPUs that it got last
	over   bool             // the wait for the first start
}

// Watch prepares for a run.
func (w *Waits) Watch(run *simulate.View) {
	w.run, w.probe = run, placement.Probe(run.Placement())
	w.at, w.kinds, w.strangers = map[Cause]int{}, map[alikeKey]*alike{}, map[*simulate.Reach]*[2][]int{}
}

// Observe tracks which jobs wait.
func (w *Waits) Observe(e simulate.Event, _ *simulate.Cluster) {
	switch l := e.Job; e.Kind {
	case simulate.Arrive:
		if !l.Refused() {
			w.joined(l)
		}
	case simulate.Start:
		w.started(l)
	case simulate.Preempt:
		w.stopped(l)
		w.enter(l)
	case simulate.Finish:
		w.stopped(l)
		w.bookLaterWaits(l)
	case simulate.Drop:
		w.Close(l)
	default:
	}
}

func (w *Waits) row(c Cause) int {
	i, have := w.at[c]
	if !have {
		i = len(w.rows)
		w.at[c] = i
		w.rows = append(w.rows, c)
		w.first = append(w.first, Row{Cause: c})
	}
	return i
}

// addAt adds a length of time to a row.
func addAt(rows *[]capcli.Seconds, i int, s capcli.Seconds) {
	for len(*rows) <= i {
		*rows = append(*rows, 0)
	}
	(*rows)[i] += s
}

// joined records that the new job l begins to wait.
func (w *Waits) joined(l *simulate.Live) {
	for len(w.notes) <= l.Slot() {
		w.notes = append(w.notes, nil)
	}
	n := w.notes[l.Slot()]
	if n == nil {
		n = &wait{}
		w.notes[l.Slot()] = n
	}
	n.first, n.later, n.over = n.first[:0], n.later[:0], false
	w.enter(l)
}

// enter adds a waiting job to the clock of its kind.
func (w *Waits) enter(l *simulate.Live) {
	key := alikeKey{class: l.Reach(), gpus: l.GPUs, part: l.GPUMilli, cpu: l.CPUMilli, mem: l.MemMiB, gpuMem: l.GPUMemMiB, opened: true}
	if len(key.class.Ranks()) > 1 {
		key.opened, key.never = w.run.Overflows(l)
	}
	if l.IsLimited() {
		key.tenant = l.Holder()
	}
	k := w.kinds[key]
	if k == nil {
		k = &alike{key: key, row: -1, job: l.Alike()}
		w.kinds[key] = k
	}
	if k.n == 0 {
		k.row, k.since = -1, w.run.Now()
		w.active = append(w.active, k)
	}
	k.touch(w.run.Now())
	k.n++
	n := w.notes[l.Slot()]
	n.alike = k
	n.began = append(n.began[:0], k.spent...)
}

// touch brings the clock up to now.
func (k *alike) touch(now capcli.Seconds) {
	if k.row >= 0 && now > k.since {
		addAt(&k.spent, k.row, now-k.since)
	}
	k.since = now
}

// leave removes a job from its clock and books what it waited there.
func (w *Waits) leave(l *simulate.Live) {
	n := w.notes[l.Slot()]
	k := n.alike
	k.touch(w.run.Now())
	k.n--
	n.alike = nil
	to := n.rows()
	for i, s := range k.spent {
		if i < len(n.began) {
			s -= n.began[i]
		}
		if s > 0 {
			addAt(to, i, s)
		}
	}
}

func (n *wait) rows() *[]capcli.Seconds {
	if n.over {
		return &n.later
	}
	return &n.first
}

// Ripen moves a waiting job to another clock when its patience ends.
func (w *Waits) Ripen(l *simulate.Live) {
	w.leave(l)
	w.enter(l)
}

// started records the start of l. Its wait goes on for the lead time of its GPUs.
func (w *Waits) started(l *simulate.Live) {
	w.leave(l)
	n := w.notes[l.Slot()]
	if n.begins = l.Since; n.begins > w.run.Now() {
		addAt(n.rows(), w.row(Lead), n.begins-w.run.Now())
	}
}

// stopped records the end of a stay, also at the end of the run. When the stay ends
// within the lead time it never began, and the rest of the lead time is taken back.
func (w *Waits) stopped(l *simulate.Live) {
	n, now := w.notes[l.Slot()], w.run.Now()
	switch {
	case n.begins > now:
		addAt(n.rows(), w.row(Lead), now-n.begins)
	case !n.over:
		n.over = true
		w.book(l, n.first)
	}
}

// Settle finds at the end of an instant why each kind of job waits from now on.
func (w *Waits) Settle() {
	kept := w.active[:0]
	w.world.forget()
	for _, k := range w.active {
		if k.n == 0 {
			continue
		}
		kept = append(kept, k)
		if row := w.row(w.findCause(k)); row != k.row {
			k.touch(w.run.Now())
			k.row = row
		}
	}
	clear(w.active[len(kept):])
	w.active = kept
}

// book books the first wait of a job, by row.
func (w *Waits) book(l *simulate.Live, first []capcli.Seconds) {
	var sum capcli.Seconds
	for _, s := range first {
		sum += s
	}
	if sum != l.Wait() && w.fault == nil {
		w.fault = &simulate.AccountError{Text: fmt.Sprintf("job %s waited %d s, of which %d s have a cause", l.ID, l.Wait(), sum)}
	}
	w.all++
	if sum < w.Over {
		return
	}
	w.jobs++
	w.sum += sum
	at := (w.run.Start() + capcli.Time(l.Submitted)).Std()
	for i, s := range first {
		if s != 0 {
			w.first[i].add(s, l, at)
		}
	}
}

func (r *Row) add(s capcli.Seconds, l *simulate.Live, at time.Time) {
	r.Jobs++
	r.Time += s
	r.Weekdays[at.Weekday()] += s
	addAt(&r.Tenants, l.Holder().Index(), s)
	i := slices.IndexFunc(r.Months, func(m MonthWait) bool { return m.Year == at.Year() && m.Month == at.Month() })
	if i < 0 {
		i = len(r.Months)
		r.Months = append(r.Months, MonthWait{at.Year(), at.Month(), 0})
	}
	r.Months[i].Time += s
	i = slices.IndexFunc(r.Models, func(m ModelWait) bool { return m.Partition == l.Partition && m.GPUModel == l.GPUModel })
	if i < 0 {
		i = len(r.Models)
		r.Models = append(r.Models, ModelWait{l.Partition, l.GPUModel, 0})
	}
	r.Models[i].Time += s
	if i = slices.IndexFunc(r.Sizes, func(m SizeWait) bool { return m.GPUs == l.GPUs }); i < 0 {
		i = len(r.Sizes)
		r.Sizes = append(r.Sizes, SizeWait{l.GPUs, 0})
	}
	r.Sizes[i].Time += s
}

// bookLaterWaits books the waits after the first of a job that has ended.
func (w *Waits) bookLaterWaits(l *simulate.Live) {
	for i, s := range w.notes[l.Slot()].later {
		addAt(&w.again, i, s)
	}
}

// Close books a job that waits or runs at the end of the run, or is dropped.
func (w *Waits) Close(l *simulate.Live) {
	if l.Running() {
		w.stopped(l)
		w.bookLaterWaits(l)
		return
	}
	w.leave(l)
	if n := w.notes[l.Slot()]; !n.over {
		w.stillN++
		for r, s := range n.first {
			addAt(&w.still, r, s)
		}
	}
	w.bookLaterWaits(l)
}

// Check fails when the wait of a job was not the sum of its causes.
func (w *Waits) Check() error { return w.fault }

// Jobs returns how many jobs started, how many of these waited at least Over, and the
// sum of the latter's waits.
func (w *Waits) Jobs() (started, told int64, waited capcli.Seconds) { return w.all, w.jobs, w.sum }

// Rows returns the causes of the waits of at least Over, the longest first. Their times
// sum to those waits.
func (w *Waits) Rows() []Row {
	var out []Row
	for _, r := range w.first {
		if r.Time == 0 {
			continue
		}
		slices.SortFunc(r.Models, func(a, b ModelWait) int {
			return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.GPUModel, b.GPUModel))
		})
		slices.SortFunc(r.Months, func(a, b MonthWait) int { return cmp.Or(cmp.Compare(a.Year, b.Year), cmp.Compare(a.Month, b.Month)) })
		slices.SortFunc(r.Sizes, func(a, b SizeWait) int { return cmp.Compare(a.GPUs, b.GPUs) })
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Row) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Cause, b.Cause)) })
	return out
}

// Time is a set of causes and its job-seconds.
type Time struct {
	Cause Cause
	Time  capcli.Seconds
}

// LaterWaits returns the waits of all jobs after they lost their GPUs, the longest
// first. They are no part of the wait for the first start.
func (w *Waits) LaterWaits() []Time { return w.times(w.again) }

// Unfinished returns the number of jobs that had not started at the end of the run, and
// their waits up to then, the longest first.
func (w *Waits) Unfinished() (jobs int64, waits []Time) { return w.stillN, w.times(w.still) }

func (w *Waits) times(rows []capcli.Seconds) []Time {
	var out []Time
	for i, s := range rows {
		if s != 0 {
			out = append(out, Time{w.rows[i], s})
		}
	}
	slices.SortFunc(out, func(a, b Time) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Cause, b.Cause)) })
	return out
}
