package spend

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/focus"
)

// Names of what has no value of a key.
const (
	unusedName = "(unused)"   // commitments that nobody used, in a bill as it was billed
	nobodyName = "(no usage)" // what no payer can bear
)

// Limits of a book.
const (
	maxCells = 5_000_000                           // days of all groups together, and of all values of a key
	maxSpan  = 100 * 366 * capcli.Time(capcli.Day) // length of its window
)

// day is a count of days since 1970, in UTC.
type day int64

// dayOf returns the day of an instant that is not before 1970.
func dayOf(t capcli.Time) day { return day(t / capcli.Time(capcli.Day)) }

// start returns the first instant of the day.
func (d day) start() capcli.Time { return capcli.Time(d) * capcli.Time(capcli.Day) }

// daily is an amount by day.
type daily map[day]focus.Amount

// spread adds an amount that accrues evenly over [from, to) to its days, or to the day of from where
// the two are the same. It fails with capcli.ErrOverflow.
func (m daily) spread(a focus.Amount, from, to capcli.Time) error {
	first, last := dayOf(from), dayOf(max(from, to-1))
	if first == last {
		return m.add(first, a)
	}
	whole, err := a.USD()
	if err != nil {
		return err
	}
	weights := make([]int64, last-first+1)
	for i := range weights {
		d := first + day(i)
		weights[i] = int64(min(to, (d+1).start()) - max(from, d.start()))
	}
	sign := capcli.USD(1)
	if whole < 0 {
		sign = -1
	}
	for i, part := range capcli.Split(sign*whole, weights) {
		if err := m.add(first+day(i), focus.AmountOf(sign*part)); err != nil {
			return err
		}
	}
	return nil
}

func (m daily) add(d day, a focus.Amount) (err error) {
	m[d], err = m[d].Add(a)
	return err
}

// group is what the use with one set of tags cost.
type group struct {
	tags   *capcli.Tags
	unused bool // commitments that nobody used, without tags
	cost   daily
}

// pledge is what a commitment cost, used and unused.
type pledge struct {
	product      string
	used, unused daily
}

// Book is what was spent on each day, by what the use is grouped by.
type Book struct {
	// By are the keys of the groups.
	By []string
	// Cash counts what is invoiced. Otherwise it is what was used up: the amortised cost.
	Cash bool

	from, to  capcli.Time
	currency  string
	groups    []*group
	byKey     map[string]*group
	pledges   map[string]*pledge
	eligible  daily // use at list prices, without spot, that commitments could cover
	covered   daily // the part of it that they covered
	cells     int
	long      int64 // rows of over a day
	portfolio *billing.Portfolio
}

// NewBook returns an empty book.
func NewBook(by []string, cash bool) *Book {
	return &Book{By: by, Cash: cash, byKey: map[string]*group{}, pledges: map[string]*pledge{}, eligible: daily{}, covered: daily{}}
}

func (b *Book) group(tags *capcli.Tags, unused bool) *group {
	key := tags.Key()
	if unused = unused && key == ""; unused {
		key = unusedName
	}
	g := b.byKey[key]
	if g == nil {
		g = &group{tags: tags, unused: unused, cost: daily{}}
		b.byKey[key] = g
		b.groups = append(b.groups, g)
	}
	return g
}

// book adds a cost of a group.
func (b *Book) book(g *group, a focus.Amount, from, to capcli.Time) error {
	before := len(g.cost)
	if err := g.cost.spread(a, from, to); err != nil {
		return err
	}
	if b.cells += len(g.cost) - before; b.cells > maxCells {
		return &capcli.RequestError{Field: "by", Text: fmt.Sprintf("over %s days of all groups together", capcli.Grouped(maxCells)), Hint: "group by fewer keys, or price the use in parts"}
	}
	return nil
}

func (b *Book) pledge(id, product string) *pledge {
	p := b.pledges[id]
	if p == nil {
		p = &pledge{product: product, used: daily{}, unused: daily{}}
		b.pledges[id] = p
	}
	return p
}

// widen widens the window of the book to hold [from, to).
func (b *Book) widen(from, to capcli.Time) {
	if b.to == 0 {
		b.from, b.to = from, to
	}
	b.from, b.to = min(b.from, from), max(b.to, to)
}

// Window widens the window of the book to [from, until), each of which may be capcli.NoTime. It fails
// with a *capcli.RequestError where that leaves cost out.
func (b *Book) Window(from, until capcli.Time) error {
	switch {
	case from.IsKnown() && from > b.from:
		return &capcli.RequestError{Field: "from", Text: fmt.Sprintf("leaves cost out: it is from %s to %s", b.from, b.to), Hint: "cut the file of use instead"}
	case until.IsKnown() && until < b.to:
		return &capcli.RequestError{Field: "until", Text: fmt.Sprintf("leaves cost out: it is from %s to %s", b.from, b.to), Hint: "cut the file of use instead"}
	}
	if from.IsKnown() {
		b.from = from
	}
	b.to = max(b.to, until)
	return nil
}

// AddRow adds a row of a bill in FOCUS as it was billed: all categories, credits and taxes too. It is
// a billing.UseOptions.Rows. A row of over a day counts as even over its charge period.
func (b *Book) AddRow(r *focus.Row, tags *capcli.Tags) error {
	if r.ChargePeriodStart < 0 || r.ChargePeriodEnd < r.ChargePeriodStart {
		return &capcli.InputError{Line: r.Line, Field: "ChargePeriodStart", Text: fmt.Sprintf("expected a charge period after 1970 that ends after it begins, found %s to %s", r.ChargePeriodStart, r.ChargePeriodEnd)}
	}
	from, to := r.ChargePeriodStart, r.ChargePeriodEnd
	if b.widen(from, to); b.to-b.from > maxSpan {
		return &capcli.InputError{Line: r.Line, Field: "ChargePeriodStart", Text: fmt.Sprintf("%s to %s: the bill covers over a hundred years", from, to), Hint: "check the dates of its rows"}
	}
	if to-from > capcli.Time(capcli.Day) {
		b.long++
	}
	b.currency = cmp.Or(r.BillingCurrency, b.currency)
	cost := r.EffectiveCost.Amount
	if b.Cash {
		cost = r.BilledCost.Amount
	}
	unused := r.CommitmentDiscountStatus == focus.Unused || r.CapacityReservationStatus == focus.Unused
	if err := b.book(b.group(tags, unused), cost, from, to); err != nil {
		return err
	}
	if r.ChargeCategory != focus.Usage {
		return nil
	}
	if id := cmp.Or(r.CommitmentDiscountID, r.CapacityReservationID); id != "" && (unused || r.CommitmentDiscountID != "") {
		p := b.pledge(id, r.CommitmentDiscountType)
		if err := p.part(unused).spread(r.EffectiveCost.Amount, from, to); err != nil {
			return err
		}
	}
	if unused || r.PricingCategory == focus.Dynamic {
		return nil
	}
	return b.cover(r.ListCost.Amount, r.CommitmentDiscountStatus == focus.Used, from, to)
}

// part returns the used or the unused part.
func (p *pledge) part(unused bool) daily {
	if unused {
		return p.unused
	}
	return p.used
}

// cover counts use that a commitment could cover, at its list price.
func (b *Book) cover(list focus.Amount, covered bool, from, to capcli.Time) error {
	if covered {
		if err := b.covered.spread(list, from, to); err != nil {
			return err
		}
	}
	return b.eligible.spread(list, from, to)
}

// Price prices the use of r, whose lines have their tags, and adds what each set of tags pays: for
// its use, and its share of what nobody used (billing.Bill.Chargeback). It fails as billing.State
// does. It changes the tenants of the lines.
func (b *Book) Price(r *billing.Request) error {
	tags := map[string]*capcli.Tags{}
	for i := range r.Use.Lines {
		l := &r.Use.Lines[i]
		l.Tenant = l.Tags.Key()
		tags[l.Tenant] = l.Tags
	}
	r.Grain = billing.ByDay
	s, err := billing.State(r)
	if err != nil {
		return err
	}
	b.widen(s.From, s.To)
	b.currency, b.portfolio = s.Currency, &r.Portfolio
	payers := s.Bill.Chargeback()
	for _, c := range payers.Charges {
		cost := c.Effective
		if b.Cash {
			cost = c.Cash
		}
		if err := b.book(b.group(tags[c.Tenant], false), focus.AmountOf(cost), c.Start, c.End); err != nil {
			return err
		}
	}
	rest := payers.Unallocated
	if b.Cash {
		rest = payers.UnpaidCash
	}
	if rest != 0 {
		if err := b.book(b.group(capcli.NewTags(b.nobody()...), false), focus.AmountOf(rest), s.From, s.To); err != nil {
			return err
		}
	}
	return b.addPledges(s.Bill)
}

// nobody returns the tags of what no payer can bear.
func (b *Book) nobody() (out []capcli.Tag) {
	for _, k := range b.By {
		out = append(out, capcli.Tag{Name: k, Value: nobodyName})
	}
	return out
}

// addPledges adds what the commitments of a bill cost, and what they covered.
func (b *Book) addPledges(bill *billing.Bill) error {
	for i := range bill.Rows {
		r := &bill.Rows[i]
		if r.Category != billing.Usage {
			continue
		}
		unused := r.Status == billing.Unused || r.ReservationStatus == billing.Unused || r.Free
		id := cmp.Or(r.Commitment, r.Reservation)
		if r.Free {
			id = r.Capacity
		}
		if id != "" && (unused || r.Commitment != "") {
			if err := b.pledge(id, r.Product).part(unused).spread(focus.AmountOf(r.EffectiveCost), r.Start, r.End); err != nil {
				return err
			}
		}
		if unused || r.Kind != billing.UseOnDemand {
			continue
		}
		if err := b.cover(focus.AmountOf(r.ListCost), r.Status == billing.Used, r.Start, r.End); err != nil {
			return err
		}
	}
	return nil
}

// span is a run of days in order: from first, one amount a day.
type span struct {
	first day
	cost  []capcli.USD
}

// sum returns the sum over the days from a up to and without z that are in the span.
func (s span) sum(a, z day) (sum capcli.USD) {
	for d := max(a, s.first); d < min(z, s.first+day(len(s.cost))); d++ {
		sum += s.cost[d-s.first]
	}
	return sum
}

// newSpan returns the days of the window with nothing spent.
func (b *Book) newSpan() span {
	first := dayOf(b.from)
	return span{first, make([]capcli.USD, dayOf(b.to-1)-first+1)}
}

// add adds the amounts of m. It fails with capcli.ErrOverflow.
func (s span) add(m daily) error {
	for d, a := range m {
		u, err := a.USD()
		if err != nil {
			return err
		}
		at := &s.cost[d-s.first]
		if *at += u; *at > 1<<53 || *at < -1<<53 {
			return capcli.ErrOverflow
		}
	}
	return nil
}

// named is what one value of a key cost.
type named struct {
	by, name string
	span
}

// series returns the days of everything, then those of each value of each key, the most expensive
// first. The values of each key sum to everything.
func (b *Book) series() ([]named, error) {
	all := named{"all", "all", b.newSpan()}
	out := []named{}
	cells := 0
	for _, key := range b.By {
		at := map[string]int{}
		var list []named
		for _, g := range b.groups {
			name := g.name(key)
			i, has := at[name]
			if !has {
				i = len(list)
				at[name] = i
				list = append(list, named{key, name, b.newSpan()})
				if cells += len(all.cost); cells > maxCells {
					return nil, &capcli.RequestError{Field: "by", Text: "the use has too many values of " + key, Hint: "group by something of fewer values"}
				}
			}
			if err := list[i].add(g.cost); err != nil {
				return nil, err
			}
		}
		slices.SortFunc(list, func(x, y named) int {
			return cmp.Or(cmp.Compare(y.total(), x.total()), cmp.Compare(x.name, y.name))
		})
		out = append(out, list...)
	}
	for _, g := range b.groups {
		if err := all.add(g.cost); err != nil {
			return nil, err
		}
	}
	return append([]named{all}, out...), nil
}

// total returns the cost of the whole window.
func (s span) total() (sum capcli.USD) {
	for _, u := range s.cost {
		sum += u
	}
	return sum
}

func (g *group) name(key string) string {
	if g.unused {
		return unusedName
	}
	return cmp.Or(g.tags.Value(key), capcli.NoTag)
}
