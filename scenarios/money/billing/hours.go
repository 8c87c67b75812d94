package billing

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"capcli"
)

// hour is a clock hour. Clock hours begin on the hour in UTC, as providers bill.
const hour = capcli.Time(capcli.Hour)

// hourOf returns the start of the clock hour that contains t.
func hourOf(t capcli.Time) capcli.Time {
	past := t % hour
	if past < 0 {
		past += hour
	}
	return t - past
}

// Hours is a record of use gathered by clock hour. Pricing a portfolio does not change it, so
// any number of portfolios can be priced over it.
type Hours struct {
	from, to capcli.Time // the window
	first    capcli.Time // start of the first clock hour
	n        int         // number of clock hours
	currency string
	buckets  []bucket         // sorted: on demand and reserved first, spot last
	open     int              // number of buckets that are not spot: the ones commitments may cover
	use      []capcli.GPUTime // by hour, then open bucket
	total    []capcli.GPUTime // by bucket, over the window
	cells    [][]entry        // by bucket, in order of hour, then who
	who      []user           // in order of tenant, then job
	lines    []UseLine        // the lines of the record; nil where only hours are known
	byJob    bool             // users are jobs rather than tenants
	bySecond bool             // lines holds the use by the second
}

// user is a tenant, or one job of a tenant.
type user struct{ tenant, job string }

// entry is what one user used of one bucket in one hour.
type entry struct {
	hour, who int32
	time      capcli.GPUTime
}

// Start returns the start of the window.
func (h *Hours) Start() capcli.Time { return h.from }

// End returns the end of the window.
func (h *Hours) End() capcli.Time { return h.to }

// overlap returns how many seconds of [from, to) fall into clock hour i and the window.
func (h *Hours) overlap(i int, from, to capcli.Time) int64 {
	start := h.first + capcli.Time(i)*hour
	return max(0, int64(min(start+hour, to, h.to)-max(start, from, h.from)))
}

// Upper limits: cells (clock hours x buckets), and clock hours (fifty years).
const (
	maxCells = 1 << 27
	maxHours = 50 * 366 * 24
)

// gatherer builds Hours from use by the hour or by stretches, in any order.
type gatherer struct {
	h     Hours
	ids   map[bucket]int // index of a bucket
	users map[user]int32 // index of a user
	cells [][]entry      // by bucket, in no order
	whole []int          // by bucket: number of entries after the last merge
}

// gather returns an empty gatherer for a window. It fails where the window is empty or longer
// than fifty years.
func gather(from, to capcli.Time, currency string) (*gatherer, error) {
	if !from.IsKnown() || !to.IsKnown() || to <= from || to < 0 || from < -1<<40 || to > 1<<40 {
		return nil, fmt.Errorf("gather use: the window from %s to %s is none", from, to)
	}
	g := &gatherer{ids: map[bucket]int{}, users: map[user]int32{}}
	g.h = Hours{from: from, to: to, first: hourOf(from), currency: currency}
	span := (to - g.h.first + hour - 1) / hour
	if span > maxHours {
		return nil, fmt.Errorf("gather use: the window from %s to %s is over fifty years", from, to)
	}
	g.h.n = int(span)
	return g, nil
}

// bucketOf returns the index of a bucket, and adds it where it is new.
func (g *gatherer) bucketOf(b bucket) int {
	id, ok := g.ids[b]
	if !ok {
		id = len(g.cells)
		g.ids[b] = id
		g.h.buckets = append(g.h.buckets, b)
		g.h.total = append(g.h.total, 0)
		g.cells = append(g.cells, nil)
		g.whole = append(g.whole, 0)
	}
	return id
}

// userOf returns the index of a user, and adds it where it is new.
func (g *gatherer) userOf(u user) int32 {
	id, ok := g.users[u]
	if !ok {
		id = int32(len(g.h.who))
		g.users[u] = id
		g.h.who = append(g.h.who, u)
	}
	return id
}

// put adds unit time of a bucket to the hour that contains at. Time after the end of the window
// counts in its last hour.
func (g *gatherer) put(b bucket, u user, at capcli.Time, time capcli.GPUTime) error {
	if time == 0 {
		return nil
	}
	return g.book(g.bucketOf(b), g.userOf(u), at, time)
}

// book is put by the indices of the bucket and the user.
func (g *gatherer) book(id int, who int32, at capcli.Time, time capcli.GPUTime) error {
	i := min(int64((at-g.h.first)/hour), int64(g.h.n-1))
	if time > math.MaxInt64-g.h.total[id] {
		return fmt.Errorf("use at %s: more unit time than can be counted", at)
	}
	g.h.total[id] += time
	g.cells[id] = append(g.cells[id], entry{int32(i), who, time})
	if n := len(g.cells[id]); n > 1<<18 && n > 2*g.whole[id] {
		g.cells[id] = mergedCells(g.cells[id])
		g.whole[id] = len(g.cells[id])
	}
	return nil
}

// Hours returns what was gathered. The gatherer must not be used afterwards.
func (g *gatherer) Hours() (*Hours, error) {
	h := &g.h
	rank := g.orderUsers()
	order := make([]int, len(h.buckets))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &h.buckets[a], &h.buckets[b]
		return cmp.Or(cmp.Compare(capcli.Bit(x.kind == UseSpot), capcli.Bit(y.kind == UseSpot)),
			cmp.Compare(capcli.Bit(x.idle), capcli.Bit(y.idle)), x.compare(y))
	})
	buckets, total := make([]bucket, len(order)), make([]capcli.GPUTime, len(order))
	h.cells = make([][]entry, len(order))
	for to, from := range order {
		buckets[to], total[to] = h.buckets[from], h.total[from]
		if buckets[to].kind != UseSpot {
			h.open++
		}
		h.cells[to] = cellsOf(g.cells[from], rank)
	}
	h.buckets, h.total = buckets, total
	if h.open > 0 && h.n > maxCells/h.open {
		return nil, fmt.Errorf("the use is of %d hours in %d kinds at different prices, which is more than can be held; cut the window or name fewer prices", h.n, h.open)
	}
	h.use = make([]capcli.GPUTime, h.n*h.open)
	for b, cells := range h.cells[:h.open] {
		for _, c := range cells {
			h.use[int(c.hour)*h.open+b] += c.time
		}
	}
	return h, nil
}

// orderUsers sorts the users and returns the new index of each by its old one.
func (g *gatherer) orderUsers() []int32 {
	old := slices.Clone(g.h.who)
	slices.SortFunc(g.h.who, func(a, b user) int {
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.job, b.job))
	})
	rank := make([]int32, len(old))
	for i, u := range g.h.who {
		rank[g.users[u]] = int32(i)
	}
	return rank
}

// cellsOf returns the cells of a bucket in order, with the new indices of users.
func cellsOf(cells []entry, rank []int32) []entry {
	for i := range cells {
		cells[i].who = rank[cells[i].who]
	}
	return slices.Clip(mergedCells(cells))
}

// mergedCells sorts cells by hour and user, and sums those of the same user in the same hour.
func mergedCells(cells []entry) []entry {
	slices.SortFunc(cells, func(a, b entry) int { return cmp.Or(cmp.Compare(a.hour, b.hour), cmp.Compare(a.who, b.who)) })
	return sumRuns(cells, func(a, b *entry) bool { return a.hour == b.hour && a.who == b.who }, func(sum, c *entry) { sum.time += c.time })
}

// sumRuns replaces each run of adjacent elements that are alike by their sum.
func sumRuns[T any](list []T, alike func(a, b *T) bool, add func(sum, x *T)) []T {
	n := 0
	for i := range list {
		if n > 0 && alike(&list[n-1], &list[i]) {
			add(&list[n-1], &list[i])
			continue
		}
		list[n] = list[i]
		n++
	}
	return list[:n]
}

// RecordError says what is wrong with a line of a record of use.
type RecordError struct {
	Line  int // index into Lines; -1 for the record as a whole
	Field string
	Text  string
}

func (e *RecordError) Error() string {
	if e.Line < 0 {
		return "use: " + e.Text
	}
	return fmt.Sprintf("use line %d: %s", e.Line+1, e.Text)
}

// Hours gathers the record by clock hour. byJob keeps the jobs of a tenant apart. The window of
// a record without one is that of its lines. It fails with a *RecordError.
func (r *UseRecord) Hours(byJob bool) (*Hours, error) {
	for i := range r.Lines {
		if err := r.Lines[i].check(i); err != nil {
			return nil, err
		}
	}
	from, to, err := r.window()
	if err != nil {
		return nil, err
	}
	g, err := gather(from, to, r.Currency)
	if err != nil {
		return nil, &RecordError{Line: -1, Field: "window", Text: err.Error()}
	}
	g.h.byJob = byJob
	prices, err := seriesOf(r.SpotPrices)
	if err != nil {
		return nil, err
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		switch {
		case l.Start < from || l.Start+capcli.Time(l.Seconds) > to:
			return nil, &RecordError{i, "start", fmt.Sprintf("it is not within the window from %s to %s", from, to)}
		case l.Kind == UseSpot:
			err = g.spot(l, prices)
		default:
			err = g.stretch(l.bucket(), g.lineUser(l), l.Units, l.Start, max(l.Seconds, l.Minimum))
		}
		if err != nil {
			return nil, &RecordError{i, "units", err.Error()}
		}
	}
	g.h.lines, g.h.bySecond = r.Lines, true
	return g.Hours()
}

func (g *gatherer) lineUser(l *UseLine) user {
	if g.h.byJob {
		return user{l.Tenant, l.Job}
	}
	return user{l.Tenant, ""}
}

// stretch adds units held for some time, divided among the clock hours.
func (g *gatherer) stretch(b bucket, u user, units int64, at capcli.Time, length capcli.Seconds) error {
	if length <= 0 || units == 0 {
		return nil
	}
	id, who := g.bucketOf(b), g.userOf(u)
	for length > 0 {
		part := min(length, capcli.Seconds(hourOf(at)+hour-at))
		if err := g.book(id, who, at, capcli.GPUTime(units*int64(part))); err != nil {
			return err
		}
		at += capcli.Time(part)
		length -= part
	}
	return nil
}

// bucket returns the bucket of a line. For spot use without a price series it is at the price
// of the line.
func (l *UseLine) bucket() bucket {
	deal := l.Contracted
	deal = cmp.Or(deal, l.Price)
	b := bucket{sku: l.SKU, account: l.Account, kind: l.Kind, capacity: l.Capacity, inside: l.inside, list: l.Price, deal: deal, paid: deal}
	b.sku.OS = osOf(b.sku.OS)
	if l.Kind == UseSpot {
		b.capacity, b.paid = "", min(l.Spot, l.Price)
	}
	return b
}

// check returns a *RecordError where a field of line i is out of range or missing.
func (l *UseLine) check(i int) error {
	switch {
	case l.Seconds < 0 || l.Seconds > maxHours*capcli.Hour:
		return &RecordError{i, "seconds", fmt.Sprintf("it lasts %d s; expected 0 s to fifty years", l.Seconds)}
	case l.Units < 0 || l.Units > maxUnits:
		return &RecordError{i, "units", fmt.Sprintf("it has %d thousandths of units; expected 0 to %d", l.Units, int64(maxUnits))}
	case l.Minimum < 0 || l.Minimum > 366*capcli.Day:
		return &RecordError{i, "minimum", fmt.Sprintf("its minimum is %d s; expected 0 s to a year", l.Minimum)}
	case l.Price < 0 || l.Contracted < 0 || l.Spot < 0:
		return &RecordError{i, "price", "a price is negative"}
	case l.Kind == UseReserved && l.Capacity == "":
		return &RecordError{i, "capacity", "reserved use must name the commitment that it ran in"}
	case !l.Start.IsKnown() || l.Start > 1<<40 || l.Start < -1<<40:
		return &RecordError{i, "start", "it has no start"}
	}
	return nil
}

// window returns the window of the record. Where the record states none, it is the whole clock
// hours around its lines. It fails where there are neither lines nor a window.
func (r *UseRecord) window() (from, to capcli.Time, err error) {
	switch {
	case r.From != 0 || r.To != 0:
		return r.From, r.To, nil
	case len(r.Lines) == 0:
		return 0, 0, &RecordError{Line: -1, Field: "window", Text: "there is no use and no window"}
	}
	from, to = r.Lines[0].Start, r.Lines[0].Start
	for i := range r.Lines {
		l := &r.Lines[i]
		from, to = min(from, l.Start), max(to, l.Start+capcli.Time(l.Seconds))
	}
	return hourOf(from), hourOf(to+hour-1) + btoh(from == to), nil
}

// btoh returns an hour for true and 0 for false.
func btoh(b bool) capcli.Time {
	if b {
		return hour
	}
	return 0
}

// series holds the spot prices of each SKU in order of time.
type series map[SKU][]SpotPrice

// seriesOf returns spot prices by SKU, sorted by time. It fails with a *RecordError for a
// negative price and for two prices of one SKU at one time.
func seriesOf(prices []SpotPrice) (series, error) {
	s := series{}
	for _, p := range prices {
		if p.Price < 0 {
			return nil, &RecordError{-1, "spot_prices", "a spot price is negative"}
		}
		s[p.SKU] = append(s[p.SKU], p)
	}
	for _, all := range s {
		slices.SortStableFunc(all, func(a, b SpotPrice) int { return cmp.Compare(a.At, b.At) })
		for i := 1; i < len(all); i++ {
			if all[i].At == all[i-1].At && all[i].Price != all[i-1].Price {
				return nil, &RecordError{-1, "spot_prices", fmt.Sprintf("two spot prices of one SKU at %s", all[i].At)}
			}
		}
	}
	return s, nil
}

// errNoSpotPrice is the error for a spot line without a price.
var errNoSpotPrice = errors.New("no spot price is known for it: give one, or a series that begins before it does")

// cutter divides the use of a bucket in an hour among its users, in proportion to what each has
// left.
type cutter struct {
	h    *Hours
	from []int              // by bucket: index of its first cell of the hour
	to   []int              // by bucket: index after its last cell of the hour
	left [][]capcli.GPUTime // by bucket: time left of each of its cells of the hour
	odd  []oddEnd           // by bucket

	scratch []int64
}

// oddEnd is the fraction of a thousandth that is left of a bucket, and the cell that has it beside
// its whole thousandths.
type oddEnd struct {
	cell int
	part uint64
}

// begin moves to hour i. next holds the index of each bucket's next cell; begin advances it
// past the hour.
func (c *cutter) begin(h *Hours, next []int, i int) {
	if c.h == nil {
		n := len(h.buckets)
		c.h, c.from, c.to, c.left, c.odd = h, make([]int, n), make([]int, n), make([][]capcli.GPUTime, n), make([]oddEnd, n)
	}
	clear(c.odd)
	for b, cells := range h.cells {
		c.from[b] = next[b]
		end := next[b]
		c.left[b] = c.left[b][:0]
		for end < len(cells) && int(cells[end].hour) == i {
			c.left[b] = append(c.left[b], cells[end].time)
			end++
		}
		c.to[b], next[b] = end, end
	}
}

// take divides time of a bucket among its users and subtracts it from what they have left. The
// fraction of a thousandth is not divided: it is of who has the odd end, then of who has most.
func (c *cutter) take(b int, time portion, to func(who int32, t portion)) {
	left := c.left[b]
	cells := c.h.cells[b][c.from[b]:c.to[b]]
	if time.part > 0 {
		c.takePart(b, time.part, to)
	}
	if len(left) == 1 {
		left[0] -= capcli.GPUTime(time.whole)
		to(cells[0].who, portion{whole: time.whole})
		return
	}
	c.scratch = c.scratch[:0]
	for _, t := range left {
		c.scratch = append(c.scratch, int64(t))
	}
	for i, t := range capcli.Split(capcli.USD(time.whole), c.scratch) {
		if t > 0 {
			left[i] -= capcli.GPUTime(t)
			to(cells[i].who, portion{whole: int64(t)})
		}
	}
}

// takePart takes 2^-64ths of a thousandth of a bucket.
func (c *cutter) takePart(b int, part uint64, to func(who int32, t portion)) {
	odd, left := &c.odd[b], c.left[b]
	cells := c.h.cells[b][c.from[b]:c.to[b]]
	if part <= odd.part {
		odd.part -= part
		to(cells[odd.cell].who, portion{part: part})
		return
	}
	if odd.part > 0 {
		to(cells[odd.cell].who, portion{part: odd.part})
		part -= odd.part
	}
	most := 0
	for i := range left {
		if left[i] > left[most] {
			most = i
		}
	}
	left[most]--
	*odd = oddEnd{most, -part}
	to(cells[most].who, portion{part: part})
}

// rest passes what is left of a bucket in the hour to to, by user.
func (c *cutter) rest(b int, to func(who int32, t portion)) {
	for i, t := range c.left[b] {
		p := portion{whole: int64(t)}
		if c.odd[b].cell == i {
			p.part = c.odd[b].part
		}
		if !p.isZero() {
			to(c.h.cells[b][c.from[b]+i].who, p)
		}
	}
}
