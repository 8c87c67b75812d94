package simulate

import (
	"fmt"
	"time"

	"capcli"
)

// Timeline is a run over time: what became of capacity, what jobs wanted and how many waited, in
// equal steps from the start. All figures are integers, so that they sum to those of the run.
type Timeline struct {
	Step   capcli.Seconds
	Length capcli.Seconds // of the run; the last step may be shorter than the others
	Spans  [4][]Span      // by Terms, then step
	Demand []capcli.GPUTime
	Queue  []capcli.GPUTime // GPUs that waiting jobs want, over time
	Wait   []int64          // waiting jobs, over time: job-seconds
	Peak   []int64          // most jobs that waited for any time

	Zone  string
	Hours [7][24]HourUse // by day of the week, from Monday, and hour of the day in Zone
	Cells []TimelineCell
}

// HourUse is the use in one hour of the week.
type HourUse struct {
	Used capcli.GPUTime
	Time capcli.Seconds // how much of the run lies in it
}

// TimelineCell is the part of a week, from Monday 00:00 UTC, that lies in one Month of the record.
type TimelineCell struct {
	From, To capcli.Seconds // since the start of the run
	Month    int            // index into Record.Months
	Pools    []Span         // by pool
}

// timelineSteps is the most steps of a Timeline.
const timelineSteps = 400

// stepWidths are widths of steps in seconds. Each divides the next, so that steps can be joined.
// After the last, widths double.
var stepWidths = [...]capcli.Seconds{1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400}

// wider returns the width of a step after width.
func wider(width capcli.Seconds) capcli.Seconds {
	for _, w := range stepWidths {
		if w > width {
			return w
		}
	}
	return 2 * width
}

// overTime builds a Timeline during the run. Memory does not grow with the run, but for the cells
// of weeks.
type overTime struct {
	g     *ledger
	zone  *time.Location
	width capcli.Seconds
	until capcli.Seconds // end of the run; 0 is not known
	pools []poolAtom
	steps []step
	after []change // changes of demand after the last step that fits
	cells []TimelineCell
	hours [168]capcli.GPUTime

	offset    capcli.Seconds // of the zone from UTC, from zoneFrom to zoneTo
	zoneFrom  capcli.Seconds
	zoneTo    capcli.Seconds
	waiting   int64
	wanted    int64 // thousandths of GPUs
	waitSince capcli.Seconds
}

// step is the figures of one step. The demand over a step is that at its start, times the width,
// plus part. The demand at its end is that at its start plus jump.
type step struct {
	spans      [4]Span
	jump       int64          // thousandths of GPUs
	part       capcli.GPUTime // each change, times the time from it to the end of the step
	wait, peak int64
	queue      capcli.GPUTime
}

// change is a change of demand.
type change struct {
	at    capcli.Seconds
	milli int64
}

// poolAtom is what became of a pool in the current atom: a time that lies in one step, one cell and
// one clock hour.
type poolAtom struct {
	from, to capcli.Seconds
	sum      Span
	held     account // of an on-demand or spot pool
}

func newOverTime(g *ledger, zone *time.Location, until capcli.Seconds) *overTime {
	if zone == nil {
		zone = time.UTC
	}
	o := &overTime{g: g, zone: zone, width: 1, until: until, pools: make([]poolAtom, len(g.rec.Pools)), steps: make([]step, 0, timelineSteps)}
	for until > o.width*timelineSteps {
		o.width = wider(o.width)
	}
	return o
}

func (o *overTime) stepAt(at capcli.Seconds) *step {
	i := int(at / o.width)
	for i >= timelineSteps {
		o.join()
		i = int(at / o.width)
	}
	for len(o.steps) <= i {
		o.steps = append(o.steps, step{})
	}
	return &o.steps[i]
}

// join makes steps wider.
func (o *overTime) join() {
	next := wider(o.width)
	k := int(next / o.width)
	n := (len(o.steps) + k - 1) / k
	for i := range n {
		var s step
		for j := range min(k, len(o.steps)-i*k) {
			x := &o.steps[i*k+j]
			for t := range s.spans {
				s.spans[t].Add(x.spans[t])
			}
			s.part += x.part + capcli.GPUTime(x.jump*int64(next-capcli.Seconds(j+1)*o.width))
			s.jump += x.jump
			s.wait += x.wait
			s.peak = max(s.peak, x.peak)
			s.queue += x.queue
		}
		o.steps[i] = s
	}
	o.steps, o.width = o.steps[:n], next
	later := o.after
	o.after = o.after[:0]
	for _, x := range later {
		o.demand(x.at, x.milli)
	}
}

// demand adds a change of demand.
func (o *overTime) demand(at capcli.Seconds, milli int64) {
	if at >= o.width*timelineSteps {
		if o.until == 0 || at < o.until {
			o.after = append(o.after, change{at, milli})
		}
		return
	}
	s := o.stepAt(at)
	s.jump += milli
	s.part += capcli.GPUTime(milli * int64(o.width-at%o.width))
}

// want adds the demand of a job that runs from its submission on.
func (o *overTime) want(milli int64, from, run capcli.Seconds) {
	if run > 0 && from+run > 0 {
		o.stepAt(max(0, from)) // steps reach the arrival
		o.demand(max(0, from), milli)
		o.demand(from+run, -milli)
	}
}

// queued counts n more waiting jobs, which want milli thousandths of GPUs in all.
func (o *overTime) queued(now capcli.Seconds, n, milli int64) {
	for o.waitSince < now {
		if o.waiting == 0 && o.wanted == 0 {
			o.waitSince = now
			break
		}
		s := o.stepAt(o.waitSince)
		to := min(now, (o.waitSince/o.width+1)*o.width)
		dt := int64(to - o.waitSince)
		s.wait += o.waiting * dt
		s.queue += capcli.GPUTime(o.wanted * dt)
		s.peak = max(s.peak, o.waiting)
		o.waitSince = to
	}
	o.waiting += n
	o.wanted += milli
}

// charge adds the state of pool p over [from, to).
func (o *overTime) charge(p int, a *account, from, to capcli.Seconds) {
	k := &o.pools[p]
	for from < to {
		if from < k.from || from >= k.to {
			o.flush(p)
			k.from, k.to = from, o.atomEnd(from)
		}
		end := min(to, k.to)
		a.charge(&k.sum, int64(end-from))
		from = end
	}
}

// hold counts that a job holds milli thousandths of GPUs more of an on-demand or spot pool. What is left of
// its last machine, where the pool is sold by the machine, is idle.
func (o *overTime) hold(p int, milli int64, now capcli.Seconds) {
	a := &o.pools[p].held
	if a.offered != 0 {
		o.charge(p, a, a.since, now)
	}
	a.since = now
	spare := o.g.rec.Pools[p].spare(max(milli, -milli))
	if milli < 0 {
		spare = -spare
	}
	a.offered += milli + spare
	a.used += milli
	a.over += spare
}

// addMinimum adds time that a minimum billing time adds to a stay that ended.
func (o *overTime) addMinimum(p int, at capcli.Seconds, time capcli.GPUTime) {
	s := Span{Offered: time, Idle: time}
	o.stepAt(max(0, at-1)).spans[o.g.rec.Pools[p].Terms].Add(s)
	o.cellAt(at).Pools[p].Add(s)
}

// flush adds what became of pool p in its atom to the step, the cell and the hour.
func (o *overTime) flush(p int) {
	k := &o.pools[p]
	if k.sum == (Span{}) {
		return
	}
	o.stepAt(k.from).spans[o.g.rec.Pools[p].Terms].Add(k.sum)
	o.cellAt(k.from).Pools[p].Add(k.sum)
	o.hours[o.hourOf(k.from)] += k.sum.Used
	k.sum = Span{}
}

// atomEnd returns the end of the atom that begins at from.
func (o *overTime) atomEnd(from capcli.Seconds) capcli.Seconds {
	o.stepAt(from)
	end := min((from/o.width+1)*o.width, o.cellAt(from).To)
	return min(end, o.hourEnd(from))
}

func (o *overTime) cellAt(at capcli.Seconds) *TimelineCell {
	for n := len(o.cells); n == 0 || at >= o.cells[n-1].To; n = len(o.cells) {
		from := capcli.Seconds(0)
		if n > 0 {
			from = o.cells[n-1].To
		}
		m := o.g.monthAt(from)
		o.cells = append(o.cells, TimelineCell{From: from, To: min(o.g.ends[m], o.weekEnd(from)), Month: m, Pools: make([]Span, len(o.pools))})
	}
	i := len(o.cells) - 1
	for at < o.cells[i].From {
		i--
	}
	return &o.cells[i]
}

// A week has weekSeconds. The first Monday after 1970-01-01 is the fifth of January.
const (
	weekSeconds = 7 * 86400
	firstMonday = 4 * 86400
)

func (o *overTime) weekEnd(at capcli.Seconds) capcli.Seconds {
	return at + weekSeconds - floorMod(int64(o.g.rec.Start)+int64(at)-firstMonday, weekSeconds)
}

// WeekOf returns the start of the week that contains t: a Monday, 00:00 UTC.
func WeekOf(t capcli.Time) capcli.Time {
	return t - capcli.Time(floorMod(int64(t)-firstMonday, weekSeconds))
}

// floorMod returns a modulo b, from 0 up to b.
func floorMod(a, b int64) capcli.Seconds { return capcli.Seconds((a%b + b) % b) }

// settleZone finds the zone's offset at a time.
func (o *overTime) settleZone(at capcli.Seconds) {
	if at >= o.zoneFrom && at < o.zoneTo {
		return
	}
	t := (o.g.rec.Start + capcli.Time(at)).Std().In(o.zone)
	_, offset := t.Zone()
	from, to := t.ZoneBounds()
	o.offset, o.zoneFrom, o.zoneTo = capcli.Seconds(offset), 0, 1<<62
	if !from.IsZero() {
		o.zoneFrom = capcli.Seconds(capcli.TimeOf(from) - o.g.rec.Start)
	}
	if !to.IsZero() {
		o.zoneTo = capcli.Seconds(capcli.TimeOf(to) - o.g.rec.Start)
	}
}

// hourOf returns the hour of the week of a time, from Monday 00:00 in the zone.
func (o *overTime) hourOf(at capcli.Seconds) int {
	o.settleZone(at)
	return int(floorMod(int64(o.g.rec.Start)+int64(at+o.offset)-firstMonday, weekSeconds) / capcli.Hour)
}

func (o *overTime) hourEnd(at capcli.Seconds) capcli.Seconds {
	o.settleZone(at)
	return min(o.zoneTo, at+capcli.Hour-floorMod(int64(o.g.rec.Start)+int64(at+o.offset), int64(capcli.Hour)))
}

// result returns the Timeline of a run that ended at end, when all accounts are closed.
func (o *overTime) result(end capcli.Seconds) *Timeline {
	o.queued(end, 0, 0)
	for p := range o.pools {
		o.hold(p, 0, end)
		o.flush(p)
	}
	if end > 0 {
		o.stepAt(end - 1)
	}
	n := int((end + o.width - 1) / o.width)
	t := &Timeline{Step: o.width, Length: end, Zone: o.zone.String(), Cells: o.cells}
	for k := range t.Spans {
		t.Spans[k] = make([]Span, n)
	}
	t.Demand, t.Queue = make([]capcli.GPUTime, n), make([]capcli.GPUTime, n)
	t.Wait, t.Peak = make([]int64, n), make([]int64, n)
	now := int64(0)
	for i := range n {
		s := &o.steps[i]
		for k := range t.Spans {
			t.Spans[k][i] = s.spans[k]
		}
		over := int64(max(0, capcli.Seconds(i+1)*o.width-end)) // of the last step, after the end
		t.Demand[i] = max(0, capcli.GPUTime(now*int64(o.width))+s.part-capcli.GPUTime((now+s.jump)*over))
		now += s.jump
		t.Queue[i], t.Wait[i], t.Peak[i] = s.queue, s.wait, s.peak
	}
	for h, used := range o.hours {
		t.Hours[h/24][h%24].Used = used
	}
	for at := capcli.Seconds(0); at < end; {
		next := min(end, o.hourEnd(at))
		h := o.hourOf(at)
		t.Hours[h/24][h%24].Time += next - at
		at = next
	}
	return t
}

// check compares the timeline with the record: the spans of all steps and of all cells sum to the
// spans of the months.
func (t *Timeline) check(r *Record) error {
	for p := range r.Pools {
		months := make([]Span, len(r.Months))
		for c := range t.Cells {
			months[t.Cells[c].Month].Add(t.Cells[c].Pools[p])
		}
		for m := range months {
			if months[m] != r.Months[m].Pools[p] {
				return &AccountError{fmt.Sprintf("pool %s, month from %s: the weeks sum to %v, the month is %v", r.Pools[p].Name, r.Months[m].Start, months[m], r.Months[m].Pools[p])}
			}
		}
	}
	var want, got [4]Span
	for m := range r.Months {
		for p := range r.Pools {
			want[r.Pools[p].Terms].Add(r.Months[m].Pools[p])
		}
	}
	for k := range t.Spans {
		for i := range t.Spans[k] {
			got[k].Add(t.Spans[k][i])
		}
		if got[k] != want[k] {
			return &AccountError{fmt.Sprintf("%s pools: the steps sum to %v, the months to %v", Terms(k), got[k], want[k])}
		}
	}
	return nil
}
