package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"capcli"
	"capcli/profile"
)

// SummaryRequest selects what Summarise sums up.
type SummaryRequest struct {
	Query
	Zone *time.Location // of the hours of the week; nil is UTC
	// SamplesAlone leaves roll-ups unread. The summary is the same.
	SamplesAlone bool
	MostJobs     int // most jobs that the summary lists; 0 is profile's default
	// ListedJobs has the summary forget the jobs that it does not list, but for the sums by tenant. It
	// then takes much less memory of a fleet.
	ListedJobs bool
	// Each, unless nil, is shown each span that is summed up: never two at once, those of a box in order,
	// boxes in any order. The span is valid until it returns.
	Each func(*profile.Span)
}

// observer returns Each for a worker beside others; nil where there is none.
func (r *SummaryRequest) observer(one *sync.Mutex) func(*profile.Span) {
	if r.Each == nil {
		return nil
	}
	return func(s *profile.Span) {
		one.Lock()
		defer one.Unlock()
		r.Each(s)
	}
}

// hostsAtOnce is how many hosts are summed up before they are added to the whole. It bounds the memory.
const hostsAtOnce = 16

// Summarise sums up what the folders hold. It reads whole hours from roll-ups, where they are up to
// date and no other folder has the same host and day, and all else from samples. Several workers read
// hosts; the summary is the same for any number of them. progress is told the number of hosts.
func (f *Folders) Summarise(ctx context.Context, r SummaryRequest, progress func(done, total int64)) (*profile.Summary, error) {
	boxes, err := f.boxes(r.Query)
	if err != nil {
		return nil, err
	}
	kept := map[profile.JobDigest]bool{}
	for {
		whole, err := f.sumUp(ctx, boxes, &r, kept, progress)
		if err != nil {
			return nil, err
		}
		missed := whole.Missed()
		if len(missed) == 0 {
			sum := whole.Summary()
			f.Describe(sum)
			return sum, nil
		}
		maps.Copy(kept, missed)
		r.Each, progress = nil, func(int64, int64) {} // these were told
	}
}

// sumUp sums up boxes. Where jobs are forgotten that are not listed, it keeps some.
func (f *Folders) sumUp(ctx context.Context, boxes []hostBox, r *SummaryRequest, kept map[profile.JobDigest]bool, progress func(done, total int64)) (*profile.Summarizer, error) {
	f.overlaps = nil
	whole := profile.NewSummarizer(r.Zone)
	whole.MostJobs = r.MostJobs
	if r.ListedJobs {
		whole.Fold(kept)
	}
	var one sync.Mutex
	for from := 0; from < len(boxes); from += hostsAtOnce {
		some := boxes[from:min(from+hostsAtOnce, len(boxes))]
		parts, err := capcli.MapParallel(ctx, some, func(n int) { progress(int64(from+n), int64(len(boxes))) },
			func(ctx context.Context, b hostBox) (*hostSum, error) {
				x := &hostSum{folders: &Folders{all: b.in}, r: r, box: b, z: profile.NewSummarizer(r.Zone)}
				x.z.Each = r.observer(&one)
				err := x.add(ctx)
				x.z.Pack()
				return x, err
			})
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			whole.Merge(p.z)
			f.overlaps = append(f.overlaps, p.folders.overlaps...)
		}
	}
	return whole, nil
}

// hostSum sums up one box.
type hostSum struct {
	folders *Folders // that hold it
	r       *SummaryRequest
	box     hostBox
	z       *profile.Summarizer
	// from and to bound samples that are not yet read; they are equal where there are none.
	from, to profile.Instant
}

// folderDays are the days of a host in one folder.
type folderDays struct {
	r    *Reader
	l    *listing
	days []day
}

// placedDay is a day of a host, and where it is: folder is -1 where several folders have some day in
// common, since what they share counts once.
type placedDay struct {
	begin  profile.Instant
	folder int
	index  int  // in the days of the folder
	alone  bool // no other folder has the day before it
}

func (x *hostSum) add(ctx context.Context) error {
	all, order, err := x.list()
	if err != nil {
		return err
	}
	spans := make([]*spanReader, len(all))
	for _, d := range order {
		from, to := d.begin, d.begin+oneDay
		if x.r.From != 0 {
			from = max(from, x.r.From)
		}
		if x.r.To != 0 {
			to = min(to, x.r.To)
		}
		if from >= to {
			continue
		}
		read := from
		if d.folder >= 0 && !x.r.SamplesAlone {
			in := &all[d.folder]
			if spans[d.folder] == nil {
				spans[d.folder] = newSpanReader(in.r, x.box.name)
			}
			if read, err = x.rolledUp(ctx, in, d, spans[d.folder], from, to); err != nil {
				return err
			}
		}
		if err := x.extend(ctx, read, to); err != nil {
			return err
		}
	}
	return x.samples(ctx)
}

// list returns the days of the host by folder, and all of them in order of time.
func (x *hostSum) list() ([]folderDays, []placedDay, error) {
	want := x.r.span()
	if want.from > math.MinInt64+int64(leadTime) {
		want.from -= int64(leadTime)
	}
	var all []folderDays
	places := map[profile.Instant][]placedDay{}
	for _, d := range x.folders.all {
		r := OpenDir(d.Disk, d.Root)
		l, logs, err := r.listFiles(x.box.host, want)
		if err != nil {
			return nil, nil, d.wrap(err)
		}
		days, err := l.days(logs)
		if err != nil {
			return nil, nil, d.wrap(err)
		}
		for i := range days {
			at := days[i].begin
			places[at] = append(places[at], placedDay{at, len(all), i, true})
		}
		all = append(all, folderDays{r, l, days})
	}
	var order []placedDay
	shared := false
	for at, some := range places {
		d := some[0]
		shared = shared || len(some) > 1
		for _, p := range places[at-oneDay] {
			d.alone = d.alone && p.folder == d.folder
		}
		order = append(order, d)
	}
	for i := range order {
		if shared {
			order[i].folder = -1
		}
	}
	slices.SortFunc(order, func(a, b placedDay) int { return int((a.begin - b.begin) / oneDay) })
	return all, order, nil
}

// rolledUp adds the hours from the time from to the time to that a roll-up tells of. It returns the
// time from which samples tell the rest.
func (x *hostSum) rolledUp(ctx context.Context, in *folderDays, at placedDay, spans *spanReader, from, to profile.Instant) (profile.Instant, error) {
	d := &in.days[at.index]
	o, first, err := in.l.openRollUp(d, segmentsBefore(in.days, at.index), d.hours)
	if o == nil || err != nil {
		return from, err
	}
	defer o.close()
	if !at.alone {
		first = max(first, d.begin+leadTime) // what another folder has of the day before counts, too
	}
	begin, end := max(from, first)+oneHour-1, to-to%oneHour
	begin -= begin % oneHour
	if begin >= end {
		return from, nil
	}
	b := newBlock(hours)
	for g := range o.groups {
		if err := o.block(g, b); err != nil {
			return from, err
		}
	}
	n, ok, err := x.ticks(o, b, begin, end)
	if !ok || err != nil {
		return from, err
	}
	told, ok, err := x.toldSpans(in.l, d, o, begin, end)
	if !ok || err != nil {
		return from, err
	}
	if from < begin {
		if err := x.extend(ctx, from, begin); err != nil {
			return from, err
		}
	}
	if err := x.samples(ctx); err != nil {
		return from, err
	}
	x.z.Flush()
	x.z.AddTicks(n)
	for row := 0; row < b.n; {
		s, next, err := spans.read(b, row)
		if err != nil {
			return from, inFile(o.name, err)
		}
		if row = next; s.Hour >= begin && s.Hour < end && x.r.wants(s.Device) {
			x.z.AddSpan(s)
		}
	}
	for _, s := range told {
		x.z.AddTold(s)
	}
	return end, x.events(ctx, in.l, d, begin, end)
}

// toldSpans returns what programs told from begin to end, by the roll-up that was made together with that of
// the hours, o; ok is false where that is not there, or devices are selected.
func (x *hostSum) toldSpans(l *listing, d *day, o *opened, begin, end profile.Instant) (all []*profile.ToldSpan, ok bool, err error) {
	text, _ := o.Meta(metaTold)
	if text == "0" {
		return nil, true, nil
	}
	in, _, err := l.openRollUp(d, nil, d.told)
	if in == nil || err != nil {
		return nil, false, err
	}
	defer in.close()
	if len(x.r.Devices) > 0 || strconv.FormatInt(in.Rows(), 10) != text {
		return nil, false, nil
	}
	b := newBlock(toldTable)
	for g := range in.groups {
		if err := in.block(g, b); err != nil {
			return nil, false, err
		}
	}
	for row := range b.n {
		s, err := toldAt(b, row, x.box.name)
		if err != nil {
			return nil, false, inFile(in.name, err)
		}
		if s.Hour >= begin && s.Hour < end {
			all = append(all, s)
		}
	}
	return all, true, nil
}

// ticks returns the number of ticks from begin to end that have a sample of a selected device; ok is
// false where the roll-up does not tell: where several devices are selected and not all, or one that MIG
// made or divides.
func (x *hostSum) ticks(o *opened, b *block, begin, end profile.Instant) (n int64, ok bool, err error) {
	if len(x.r.Devices) == 0 {
		text, _ := o.Meta(metaTicks)
		all, ok := parseTicks(text)
		if !ok {
			return 0, false, &capcli.InputError{File: o.name, Text: fmt.Sprintf("metadata %q is %q", metaTicks, text), Hint: "remove the file: capcli profile compact makes it again"}
		}
		day := begin - begin%oneDay
		for h := (begin - day) / oneHour; h < (end-day)/oneHour; h++ {
			n += all[h]
		}
		return n, true, nil
	}
	only := ""
	for row := range b.n {
		if at := profile.Instant(b.intAt(hourTS, row)); at < begin || at >= end || !b.cols[hourPart].Null[row] {
			continue
		}
		d := deviceAt(b, hourIndex, row)
		if !x.r.wants(&d) {
			continue
		}
		if d.MIG() || b.intAt(hourDivided, row) != 0 || only != "" && only != d.UUID {
			return 0, false, nil
		}
		only, n = d.UUID, n+b.intAt(hourSamples, row)
	}
	return n, true, nil
}

// events adds the events from begin to end, hours of a day that a roll-up tells of.
func (x *hostSum) events(ctx context.Context, l *listing, d *day, begin, end profile.Instant) error {
	if !slices.ContainsFunc(l.pieces, func(p piece) bool { return p.table == events && p.dir == d.dir }) {
		return nil
	}
	q := x.r.Query
	q.Hosts, q.From, q.To, q.eventsOnly = []string{x.box.host}, begin, end, true
	return x.eachTick(ctx, q, func(t HostTick) { x.z.AddEvents(x.box.name, t.Events) })
}

// extend has the samples from the time from to the time to read, together with those that are not yet
// read.
func (x *hostSum) extend(ctx context.Context, from, to profile.Instant) error {
	if from >= to {
		return nil
	}
	if x.from == x.to {
		x.from = from
	}
	x.to = to
	return context.Cause(ctx)
}

// samples adds the samples that are not yet read. It reads those of the hour before them for what is
// known at their begin.
func (x *hostSum) samples(ctx context.Context) error {
	from, to := x.from, x.to
	if from == to {
		return nil
	}
	x.from = x.to
	x.z.Flush()
	q := x.r.Query
	q.Hosts, q.From, q.To = []string{x.box.host}, max(0, from-leadTime), to
	return x.eachTick(ctx, q, func(t HostTick) {
		if t.At < from {
			x.z.Lead(t.Host, t.Tick)
		} else {
			x.z.Add(t.Host, t.Tick)
		}
	})
}

func (x *hostSum) eachTick(ctx context.Context, q Query, use func(HostTick)) error {
	_, err := x.folders.ticksOf(x.box, q, func(t HostTick, _ error) bool {
		use(t)
		return ctx.Err() == nil
	})
	return errors.Join(err, context.Cause(ctx))
}
