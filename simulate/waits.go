package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"capcli"
)

// Waits notes, while a run goes on, why its jobs wait: each second that a job
// waits is given to one set of causes, the one that holds since the instant
// before it settled. It changes nothing about the run. Jobs that are alike
// (same pools, size, quota and patience) wait for the same causes at the same
// time, so it holds a clock for each kind of waiting job, a few numbers for
// each job alive, and sums.
//
// A Waits serves one run. Its answers are good once the run is over.
type Waits struct {
	Over capcli.Seconds // tell apart the jobs whose first start came after waiting at least this

	e      *engine
	rows   []Cause             // sets of causes met so far
	at     map[Cause]int       // their places
	kinds  map[alikeKey]*alike // kinds of waiting jobs
	active []*alike            // those of which some wait
	spare  []*wait
	world  whatIfs
	fault  error

	first  []WaitRow // waits for the first start of the jobs told apart
	all    int64     // jobs that started
	jobs   int64     // of those told apart
	sum    capcli.Seconds
	again  []capcli.Seconds // by row: waits after a job lost its GPUs, all jobs
	still  []capcli.Seconds // by row: waits of jobs that never started
	stillN int64
}

// WaitRow is what one set of causes made jobs wait.
type WaitRow struct {
	Cause    Cause
	Jobs     int64             // that waited for it at all
	Time     capcli.Seconds    // job-seconds
	Tenants  []capcli.Seconds  // of Time, by the record's tenants; may be shorter
	Models   []ModelWait       // of Time, by what the jobs asked for, largest first
	Sizes    []SizeWait        // of Time, by the jobs' GPUs
	Weekdays [7]capcli.Seconds // of Time, by the day of submission (UTC), Sunday first
	Months   []MonthWait       // of Time, by the month of submission (UTC), in order
}

// ModelWait is the wait of jobs that asked for one partition and model.
type ModelWait struct {
	Partition, GPUModel string
	Time                capcli.Seconds
}

// SizeWait is the wait of jobs of one number of GPUs.
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
	class      *class
	gpus, part int
	cpu, mem   int64
	tenant     *Tenant // nil: without a quota
	opened     bool    // may go beyond the first rank
	never      bool    // will never go there
}

// alike is the clock of one kind of waiting job.
type alike struct {
	key   alikeKey
	job   Live // stands for any of them
	n     int  // that wait
	row   int
	since capcli.Seconds
	spent []capcli.Seconds // by row
}

// wait is what is noted of one job.
type wait struct {
	alike *alike
	began []capcli.Seconds // the kind's clock when the job joined it
	first []capcli.Seconds // by row
	later []capcli.Seconds // by row: after the first stay
}

func (w *Waits) begin(e *engine) {
	w.e, w.at, w.kinds = e, map[Cause]int{}, map[alikeKey]*alike{}
}

// row is the place of a set of causes.
func (w *Waits) row(c Cause) int {
	i, have := w.at[c]
	if !have {
		i = len(w.rows)
		w.at[c] = i
		w.rows = append(w.rows, c)
		w.first = append(w.first, WaitRow{Cause: c})
	}
	return i
}

// addAt notes a length of time in a row.
func addAt(rows *[]capcli.Seconds, i int, s capcli.Seconds) {
	for len(*rows) <= i {
		*rows = append(*rows, 0)
	}
	(*rows)[i] += s
}

// joined notes that l has begun to wait.
func (w *Waits) joined(l *Live) {
	if l.note == nil {
		if n := len(w.spare); n > 0 {
			l.note, w.spare = w.spare[n-1], w.spare[:n-1]
		} else {
			l.note = &wait{}
		}
	}
	w.enter(l)
}

// enter puts a waiting job under the clock of its kind.
func (w *Waits) enter(l *Live) {
	patience := w.e.cfg.Overflow.of(l)
	key := alikeKey{class: l.class, gpus: l.GPUs, part: l.GPUMilli, cpu: l.CPUMilli, mem: l.MemMiB, opened: true}
	if len(l.class.ranks) > 1 {
		key.opened, key.never = w.e.opened(l), patience < 0
	}
	if l.tenant.Quota > 0 {
		key.tenant = l.tenant
	}
	k := w.kinds[key]
	if k == nil {
		k = &alike{key: key, row: -1}
		k.job.Job = capcli.Job{GPUs: l.GPUs, GPUMilli: l.GPUMilli, CPUMilli: l.CPUMilli, MemMiB: l.MemMiB}
		k.job.class, k.job.tenant = l.class, l.tenant
		w.kinds[key] = k
	}
	if k.n == 0 {
		k.row, k.since = -1, w.e.c.now
		w.active = append(w.active, k)
	}
	k.touch(w.e.c.now)
	k.n++
	l.note.alike = k
	l.note.began = append(l.note.began[:0], k.spent...)
}

// touch brings the clock up to now.
func (k *alike) touch(now capcli.Seconds) {
	if k.row >= 0 && now > k.since {
		addAt(&k.spent, k.row, now-k.since)
	}
	k.since = now
}

// leave takes a job from under its clock and books what it waited there.
func (w *Waits) leave(l *Live) {
	k := l.note.alike
	k.touch(w.e.c.now)
	k.n--
	l.note.alike = nil
	to := &l.note.first
	if l.waited {
		to = &l.note.later
	}
	for i, s := range k.spent {
		if i < len(l.note.began) {
			s -= l.note.began[i]
		}
		if s > 0 {
			addAt(to, i, s)
		}
	}
}

// ripened notes that the patience of a waiting job has ended.
func (w *Waits) ripened(l *Live) {
	w.leave(l)
	w.enter(l)
}

// started notes that l got its GPUs, which it has after lead.
func (w *Waits) started(l *Live, lead capcli.Seconds) {
	w.leave(l)
	if lead > 0 {
		w.lead(l, lead)
	}
}

// lead books time between order and delivery; less than nothing takes back
// what will not come to pass.
func (w *Waits) lead(l *Live, s capcli.Seconds) {
	to := &l.note.first
	if l.waited {
		to = &l.note.later
	}
	addAt(to, w.row(CauseLead), s)
}

// cut takes back the rest of a lead time that a stop has ended.
func (w *Waits) cut(l *Live, now capcli.Seconds) {
	if l.note != nil && l.Since > now {
		w.lead(l, now-l.Since)
	}
}

// settle finds, once an instant is over, why each kind of job that still waits
// does, until the next.
func (w *Waits) settle() {
	kept := w.active[:0]
	w.world.forget()
	for _, k := range w.active {
		if k.n == 0 {
			continue
		}
		kept = append(kept, k)
		if row := w.row(w.why(k)); row != k.row {
			k.touch(w.e.c.now)
			k.row = row
		}
	}
	clear(w.active[len(kept):])
	w.active = kept
}

// over books the first wait of a job whose first stay is over.
func (w *Waits) over(l *Live) {
	var sum capcli.Seconds
	for _, s := range l.note.first {
		sum += s
	}
	if sum != l.Wait() && w.fault == nil {
		w.fault = &AccountError{fmt.Sprintf("job %s waited %d s, of which %d s have a cause", l.ID, l.Wait(), sum)}
	}
	w.all++
	if sum < w.Over {
		return
	}
	w.jobs++
	w.sum += sum
	at := (w.e.ledger.rec.Start + capcli.Time(l.Submitted)).Std()
	for i, s := range l.note.first {
		if s != 0 {
			w.first[i].add(s, l, at)
		}
	}
}

func (r *WaitRow) add(s capcli.Seconds, l *Live, at time.Time) {
	r.Jobs++
	r.Time += s
	r.Weekdays[at.Weekday()] += s
	addAt(&r.Tenants, l.tenant.index, s)
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

// done books the waits after the first of a job that is gone.
func (w *Waits) done(l *Live) {
	for i, s := range l.note.later {
		addAt(&w.again, i, s)
	}
	n := l.note
	l.note = nil
	n.first, n.later = n.first[:0], n.later[:0]
	w.spare = append(w.spare, n)
}

// close books the jobs that wait, or run, when the run ends.
func (w *Waits) close() {
	for l := range w.e.allRunning() {
		w.done(l)
	}
	for _, q := range w.e.queues {
		for _, chunk := range q.list.Chunks {
			for i := range chunk {
				l := chunk[i].Value.job
				w.leave(l)
				if !l.waited {
					w.stillN++
					for r, s := range l.note.first {
						addAt(&w.still, r, s)
					}
				}
				w.done(l)
			}
		}
	}
}

// Jobs are how many jobs started, how many of these are told apart, and how
// long the latter waited together.
func (w *Waits) Jobs() (started, told int64, waited capcli.Seconds) { return w.all, w.jobs, w.sum }

// Rows are what the jobs told apart waited for, most first. Their times sum to
// what those jobs waited.
func (w *Waits) Rows() []WaitRow {
	var out []WaitRow
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
	slices.SortFunc(out, func(a, b WaitRow) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Cause, b.Cause)) })
	return out
}

// CauseTime is a set of causes and the job-seconds that it took.
type CauseTime struct {
	Cause Cause
	Time  capcli.Seconds
}

// Again are the waits of all jobs after they lost their GPUs, most first: no
// part of the wait for the first start.
func (w *Waits) Again() []CauseTime { return w.times(w.again) }

// Still are the jobs that had not started when the run ended, and their waits
// up to then, most first.
func (w *Waits) Still() (jobs int64, waits []CauseTime) { return w.stillN, w.times(w.still) }

func (w *Waits) times(rows []capcli.Seconds) []CauseTime {
	var out []CauseTime
	for i, s := range rows {
		if s != 0 {
			out = append(out, CauseTime{w.rows[i], s})
		}
	}
	slices.SortFunc(out, func(a, b CauseTime) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Cause, b.Cause)) })
	return out
}
