package resample

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"capcli"
	"capcli/scenarios/decide/plan"
)

// The rules by which jobs are accepted.
const (
	fullShare   = 0.05 // of a day's work by which one job may exceed it
	wideShare   = 0.75 // of a day's work from which a job counts as wide: it takes the day for itself
	partShare   = 0.25 // of the highest level of its hours from which a job's hours need room
	fewHours    = 4    // that such a job spans, below which they need none
	excessShare = 0.05 // of such a job's work that may be beyond what its hours want
	carryShare  = 0.02 // of a day's work by which it makes up for the days before
	dayPull     = 8.0  // jobs of one size that may be left out or taken in to meet a day's work
	lackShare   = 0.05 // of a day's work that its hours may lack
	lackLayers  = 3    // layers added on one day for what its hours lack
	mostLayers  = 100_000
	fewTopUps   = 4   // layers added for a day that lacks more than a small share of its work
	mostTopUps  = 200 // layers added for a day that lacks more than its largest job
)

var errEmptyDays = errors.New("the days of the history that could fill this future are empty: give a longer history")

// drawing is the state of filling one future.
type drawing struct {
	r        *Resampler
	rng      *rand.Rand
	from, to capcli.Time   // of the future
	edges    []capcli.Time // of its days
	days     int
	axes     []axis // days, then hours or the steps of the future where these are shorter than a day
	shaped   bool   // hours have the shape of the past days that stand for theirs
	layers   []*layer
	made     int         // layers added
	owed     [64]float64 // by size of work: jobs taken beyond those wanted
	largest  []float64   // by day: the most work of one job taken
	carry    float64     // work wanted in the days before that was not drawn
	most     int
	loose    bool // hours need no room, as the day lacks more than its largest job
	out      []capcli.Job
	filled   Filled
}

// axis divides the future into cells, each of which wants some work.
type axis struct {
	edges             []capcli.Time
	width             capcli.Time // of each cell; 0 where they differ
	asked, held, over []float64   // over is held beyond what is wanted of those decided on this day
	works             []float64   // of one job
}

func newAxis(edges []capcli.Time, asked []capcli.GPUTime) axis {
	n := len(asked)
	x := axis{edges: edges, width: edges[1] - edges[0], asked: make([]float64, n), held: make([]float64, n), over: make([]float64, n)}
	for i, w := range asked {
		x.asked[i] = float64(w)
		if edges[i+1]-edges[i] != x.width {
			x.width = 0
		}
	}
	return x
}

func (x *axis) index(at capcli.Time) int {
	if x.width > 0 {
		return int((at - x.edges[0]) / x.width)
	}
	i, found := slices.BinarySearch(x.edges, at)
	if !found {
		i--
	}
	return i
}

// room returns the work that cell i still wants.
func (x *axis) room(i int) float64 { return x.asked[i] - x.held[i] }

// spread returns the work of a job by cell, from cell first on, until the next call.
func (x *axis) spread(at, end capcli.Time, milli float64) (first int, works []float64) {
	first = x.index(at)
	x.works = x.works[:0]
	for i := first; i < len(x.asked) && x.edges[i] < end; i++ {
		x.works = append(x.works, milli*float64(min(end, x.edges[i+1])-max(at, x.edges[i])))
	}
	return first, x.works
}

// Fill draws the jobs of future k of f, in order of submission. Their ids are those of the past
// with the future day appended, "1234@2027-03-01", and with the number of the layer where it is not
// the first, "1234@2027-03-01+1"; ".rest" follows for a job that is in flight when its block begins.
// Their start and end are unknown.
func (r *Resampler) Fill(f *plan.Futures, k int, seed capcli.Seed) ([]capcli.Job, Filled, error) {
	if k < 0 || k >= len(f.Paths) {
		return nil, Filled{}, fmt.Errorf("there is no future %d of %d", k, len(f.Paths))
	}
	days := capcli.Step{Days: 1}.Grid(f.Start(), r.zone)
	asked, err := r.ask(f, k, days)
	if err != nil {
		return nil, Filled{}, err
	}
	d := &drawing{
		r: r, rng: seed.Child(k).Stream("futures/jobs"), most: cmp.Or(r.MaxJobs, defaultMaxJobs),
		from: f.Start(), to: f.End(), days: len(asked), largest: make([]float64, len(asked)),
	}
	for i := range d.days + 1 {
		d.edges = append(d.edges, days.At(i))
	}
	d.axes = append(d.axes, newAxis(d.edges, asked))
	edges, cells := hours(f, k)
	if d.shaped = cells == nil; d.shaped {
		edges, cells = divide(d.edges, asked)
	}
	d.axes = append(d.axes, newAxis(edges, cells))
	for i := range d.owed {
		d.owed[i] = d.rng.Float64() - 0.5
	}
	d.begin()
	for day := range d.days {
		if err := d.fillDay(day); err != nil {
			return nil, Filled{}, err
		}
	}
	d.measure(asked)
	return d.sorted(), d.filled, nil
}

// ask returns the work that a future wants on each day. A step that is longer than a day is divided
// by the mean work of each weekday in the past.
func (r *Resampler) ask(f *plan.Futures, k int, days capcli.Grid) ([]capcli.GPUTime, error) {
	n := days.Index(f.End()-1) + 1
	asked := make([]float64, n)
	for i, v := range f.Paths[k] {
		from, to := f.Grid.At(i), f.Grid.At(i+1)
		work := v * 1000 * float64(to-from)
		a, b := days.Index(from), days.Index(to-1)
		share := make([]float64, b-a+1)
		var all, lengths float64
		for d := a; d <= b; d++ {
			length := float64(min(to, days.At(d+1)) - max(from, days.At(d)))
			w := days.At(d).Std().In(r.zone).Weekday()
			share[d-a] = length * r.weight[w]
			all += share[d-a]
			lengths += length
		}
		for d := a; d <= b; d++ {
			part := float64(min(to, days.At(d+1))-max(from, days.At(d))) / lengths
			if all > 0 {
				part = share[d-a] / all
			}
			asked[d] += work * part
		}
	}
	return round(asked)
}

// round returns whole work whose sums are the rounded sums.
func round(asked []float64) ([]capcli.GPUTime, error) {
	out := make([]capcli.GPUTime, len(asked))
	var sum float64
	var so capcli.GPUTime
	for i, v := range asked {
		if sum += v; sum > 1<<62 {
			return nil, capcli.ErrTooMuchTime
		}
		out[i] = capcli.GPUTime(math.Round(sum)) - so
		so += out[i]
	}
	return out, nil
}

// hours returns the work that a future wants in each of its steps where these are shorter than a
// day, an hour at least; nil where they are not.
func hours(f *plan.Futures, k int) ([]capcli.Time, []capcli.GPUTime) {
	step := f.Grid.Step.Seconds
	if f.Grid.Step.Length() >= capcli.Day || step <= 0 {
		return nil, nil
	}
	group := int((3599 + step) / step)
	edges := []capcli.Time{f.Start()}
	var asked []float64
	for i, v := range f.Paths[k] {
		if i%group == 0 {
			asked, edges = append(asked, 0), append(edges, 0)
		}
		asked[len(asked)-1] += v * 1000 * float64(step)
		edges[len(edges)-1] = f.Grid.At(i + 1)
	}
	out, err := round(asked)
	if err != nil {
		return nil, nil // ask has failed with it
	}
	return edges, out
}

// divide divides days, and what they want, into 24 equal parts.
func divide(days []capcli.Time, asked []capcli.GPUTime) (edges []capcli.Time, cells []capcli.GPUTime) {
	for day, w := range asked {
		for h := range capcli.Time(24) {
			edges = append(edges, days[day]+(days[day+1]-days[day])*h/24)
			cells = append(cells, w/24)
		}
	}
	return append(edges, days[len(asked)]), cells
}

// shape gives the hours of a future day the shape of a past day: the differences from its mean grow
// with what the day wants where that is less than it had, and with the root of it where it is more,
// as those of independent jobs do.
func (d *drawing) shape(day, past int) {
	hours, held := d.axes[1].asked[24*day:24*day+24], d.r.hours[24*past:24*past+24]
	asked, had := d.axes[0].asked[day], float64(d.r.days[past].held)
	if had <= 0 {
		return
	}
	scale := min(asked/had, math.Sqrt(asked/had))
	var sum float64
	for h, v := range held {
		hours[h] = 0
		if d.axes[1].edges[24*day+h+1] > d.from {
			hours[h] = max(0, asked/24+scale*(v-had/24))
			sum += hours[h]
		}
	}
	for h := range hours {
		hours[h] *= asked / max(sum, 1)
	}
}

func (d *drawing) weekday(day int) time.Weekday { return d.edges[day].Std().In(d.r.zone).Weekday() }

// begin makes the first layers: the jobs in flight at the log's end, then those submitted in the
// first block, then those in flight at its start, which fill what is left.
func (d *drawing) begin() {
	end := d.newLayer(atLogEnd, 0)
	end.until = 1
	d.count(end)
	for i, v := range end.axes[0].rest { // the first block is to fit what is left
		d.axes[0].held[i] += v
	}
	first := d.newLayer(submitted, 0)
	d.lay(first, 0, 0, false)
	for i, v := range end.axes[0].rest {
		d.axes[0].held[i] -= v
	}
	before := d.newLayer(inFlight, 0)
	before.source, before.until = first.source, first.until
	d.window(before, before.until)
	d.candidates(before, 0, func(c candidate) { d.settle(&c, 1) })
	d.layers = append(d.layers, end, first, before)
}

// fillDay draws the jobs that begin on a day.
func (d *drawing) fillDay(day int) error {
	days := &d.axes[0]
	wanted := days.asked[day]
	if day > 0 {
		most := min(carryShare*wanted, slices.Min(d.largest[max(0, day-7):day])/4)
		days.asked[day] += max(-most, min(most, d.carry))
	}
	if err := d.open(day); err != nil {
		return err
	}
	left := d.decideAll(day, d.layers)
	for more := 0; ; more++ {
		d.loose = more > fewTopUps
		left = d.topUp(day, left)
		room := days.room(day)
		if room <= max(min(d.largest[day]/2, fullShare*wanted), 1) || more >= mostTopUps ||
			more >= fewTopUps && room <= d.largest[day]/2 {
			break
		}
		l := d.add(day, d.gap(day), more >= fewTopUps)
		left = append(left, d.decideAll(day, []*layer{l})...)
		if len(d.out) > d.most {
			return d.tooMany()
		}
	}
	d.loose = false
	d.carry += wanted - days.held[day]
	if len(d.out) > d.most {
		return d.tooMany()
	}
	return nil
}

func (d *drawing) tooMany() error {
	var asked, had float64
	for _, v := range d.axes[0].asked {
		asked += v / float64(d.days)
	}
	for i := range d.r.days {
		had += float64(d.r.days[i].held) / float64(len(d.r.days))
	}
	return fmt.Errorf("more than %d jobs would be drawn for one future: its level is %.3g times that of the history, or its jobs are short", d.most, asked/max(had, 1))
}

// decideAll decides on the candidates of layers that begin on a day, and returns those not taken.
func (d *drawing) decideAll(day int, layers []*layer) (left []candidate) {
	d.ratios(day, layers)
	for a := range d.axes {
		clear(d.axes[a].over)
	}
	for _, l := range layers {
		if l.from > day || l.until <= day || l.kind == inFlight && day > 0 || l.kind == atLogEnd && day > 0 {
			continue
		}
		var list []candidate
		d.candidates(l, day, func(c candidate) {
			list = append(list, c)
			d.settle(&c, -1)
		})
		d.order(list)
		for i := range list {
			c := &list[i]
			if d.decide(c) {
				d.take(c)
			} else {
				left = append(left, *c)
			}
		}
	}
	return left
}

// decide reports whether a candidate is taken. The share of it that is wanted, by cell, is the
// ratio of its layer; over is what jobs decided before it were taken beyond that share. It is taken
// where that brings the sum of squares of over nearer to 0 than leaving it out would. So that no
// size is favoured, the same holds for the number of jobs of its size.
func (d *drawing) decide(c *candidate) bool {
	j := &d.r.jobs[c.job]
	milli := float64(j.Milli())
	var pull, wanted, plain float64
	axes := d.axes
	if c.layer.kind == atLogEnd {
		axes = axes[:1] // what runs at the log's end goes on, whatever the hours of the first block are
	}
	for a := range axes {
		x, s := &axes[a], &c.layer.axes[a]
		first, works := x.spread(c.at, min(c.end, d.to), milli)
		var square, off, want, all float64
		for i, w := range works {
			square += w * w
			off += w * x.over[first+i]
			want += w * w * s.ratio[first+i-s.first]
			all += w * w * s.plain[first+i-s.first]
		}
		if square > 0 {
			pull += max(-dayPull, min(dayPull, off/square)) / float64(len(axes))
			wanted += want / square / float64(len(axes))
			plain += all / square / float64(len(axes))
		}
	}
	size := bits.Len64(uint64(j.Work())) & 63
	owed := &d.owed[size]
	taken := wanted > 0 && pull+*owed+1-wanted-plain < 1e-9 && d.fits(c)
	x := 0.0
	if taken {
		x = 1
	}
	*owed = max(-2*dayPull, min(2*dayPull, *owed+x-plain))
	for a := range d.axes {
		x, s := &d.axes[a], &c.layer.axes[a]
		first, works := x.spread(c.at, min(c.end, d.to), milli)
		for i, w := range works {
			if x.over[first+i] -= w * s.ratio[first+i-s.first]; taken {
				x.over[first+i] += w
			}
		}
	}
	return taken
}

// fits reports whether every day that a candidate spans has room for it. A job may exceed the work of a
// day by a small share of it, and a wide one may take a day that has little else.
func (d *drawing) fits(c *candidate) bool {
	x := &d.axes[0]
	first, works := x.spread(c.at, min(c.end, d.to), float64(d.r.jobs[c.job].Milli()))
	for i, w := range works {
		asked := x.asked[first+i]
		if w > x.room(first+i)+max(min(w/2, fullShare*asked), w-wideShare*asked) {
			return false
		}
	}
	return d.loose || c.layer.kind == atLogEnd || d.fitsHours(c)
}

// fitsHours reports whether the hours that a candidate spans have room for it, where it takes a good part of
// their level: the hours that want less than half of its work have at most a small share of it.
func (d *drawing) fitsHours(c *candidate) bool {
	x := &d.axes[1]
	first, works := x.spread(c.at, min(c.end, d.to), float64(d.r.jobs[c.job].Milli()))
	var sum, most, excess, asked float64
	for i, w := range works {
		sum += w
		most = max(most, w)
		asked = max(asked, x.asked[first+i])
		if x.room(first+i) < min(w/2, x.asked[first+i]/4) {
			excess += w
		}
	}
	return len(works) <= fewHours || most < partShare*asked || excess <= excessShare*sum
}

// gap returns the time from the start of a day to the first hour that lacks work.
func (d *drawing) gap(day int) capcli.Time {
	x := &d.axes[1]
	begin := max(d.edges[day], d.from)
	for i := x.index(begin); i < len(x.asked) && x.edges[i] < d.edges[day+1]; i++ {
		room, width := x.room(i), x.edges[i+1]-x.edges[i]
		if room <= fullShare*x.asked[i] {
			continue
		}
		at := x.edges[i]
		if i+1 < len(x.asked) && x.room(i+1) > room { // jobs end within the hour
			at += width - capcli.Time(float64(width)*room/x.room(i+1))
		}
		return max(0, min(at, d.edges[day+1]-1, d.to-1)-begin)
	}
	return 0
}

// topUp takes candidates that were left out while a day wants more than its largest job.
func (d *drawing) topUp(day int, left []candidate) []candidate {
	x := &d.axes[0]
	if x.room(day) <= max(min(d.largest[day]/2, fullShare*x.asked[day]), 1) {
		return left
	}
	kept := left[:0]
	for i := range left {
		c := &left[i]
		_, works := x.spread(c.at, min(c.end, d.to), float64(d.r.jobs[c.job].Milli()))
		if len(works) > 0 && works[0] <= x.room(day) && d.fits(c) && (d.loose || d.helps(c, day)) {
			d.take(c)
			d.owed[bits.Len64(uint64(d.r.jobs[c.job].Work()))&63]++
		} else {
			kept = append(kept, *c)
		}
	}
	return kept
}

// helps reports whether a candidate brings the hours of a day nearer to what they want.
func (d *drawing) helps(c *candidate, day int) bool {
	x := &d.axes[1]
	first, works := x.spread(c.at, min(c.end, d.to, d.edges[day+1]), float64(d.r.jobs[c.job].Milli()))
	var sum float64
	for i, w := range works {
		sum += w * (x.room(first+i) - w/2)
	}
	return sum > 0
}

func (d *drawing) take(c *candidate) {
	j := d.r.jobs[c.job]
	for a := range d.axes {
		x := &d.axes[a]
		first, works := x.spread(c.at, min(c.end, d.to), float64(j.Milli()))
		for i, w := range works {
			x.held[first+i] += w
			if a == 0 {
				d.largest[first+i] = max(d.largest[first+i], w)
			}
		}
	}
	d.filled.Drawn += d.workInside(c)
	moved := c.at - c.past
	switch {
	case j.Eligible <= j.Submit:
	case c.piece:
		j.Eligible = capcli.NoTime
	default:
		j.Eligible += moved
	}
	if j.Deadline.IsKnown() {
		j.Deadline += moved
	}
	mark := "@" + c.at.Std().In(d.r.zone).Format("2006-01-02")
	if c.layer.number > 0 {
		mark += "+" + strconv.Itoa(c.layer.number)
	}
	switch {
	case c.layer.kind == atLogEnd:
		mark += ".rest"
		d.filled.InFlight++
	case c.piece:
		mark += ".left"
	}
	run := capcli.Seconds(c.end - c.at)
	if run < j.Run {
		d.filled.Cut++
	}
	if c.piece && j.Limit > 0 {
		j.Limit = max(run, j.Limit-(j.Run-run))
	}
	j.ID, j.Submit, j.Start, j.End = j.ID+mark, c.at, capcli.NoTime, capcli.NoTime
	j.Run = run
	d.out = append(d.out, j)
}

// sorted returns the drawn jobs in order of submission, those of one second as they were drawn.
func (d *drawing) sorted() []capcli.Job {
	order := make([]int, len(d.out))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(d.out[a].Submit, d.out[b].Submit), a-b) })
	out := make([]capcli.Job, len(order))
	for i, k := range order {
		out[i] = d.out[k]
	}
	return out
}

// measure compares what is drawn with what was asked for.
func (d *drawing) measure(asked []capcli.GPUTime) {
	d.filled.Jobs = len(d.out)
	for i, w := range asked {
		d.filled.Asked += w
		off := capcli.GPUTime(math.Round(math.Abs(d.axes[0].held[i] - float64(w))))
		d.filled.Worst = max(d.filled.Worst, off)
		d.filled.Largest = max(d.filled.Largest, capcli.GPUTime(math.Round(d.largest[i])))
	}
}
