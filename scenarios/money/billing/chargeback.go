package billing

import (
	"cmp"
	"slices"
	"strings"

	"capcli"
)

// Payer is what one tenant pays for a bill.
type Payer struct {
	Name       string         `json:"tenant"`                   // "" is use without a tenant
	Used       capcli.GPUTime `json:"used_unit_hours"`          // unit time
	Equivalent capcli.USD     `json:"on_demand_equivalent_usd"` // its use at public on-demand prices
	Direct     capcli.USD     `json:"direct_usd"`               // showback: effective cost of its use
	Share      capcli.USD     `json:"stranded_share_usd"`       // its share of unused commitments and reservations
	Total      capcli.USD     `json:"effective_usd"`            // chargeback: Direct + Share
	Cash       capcli.USD     `json:"billed_usd"`               // its share of what is invoiced in the window
}

// Charge is what one tenant pays for one charge period.
type Charge struct {
	Start, End      capcli.Time
	Tenant          string
	Effective, Cash capcli.USD
}

// Chargeback divides a bill among the tenants. The totals add up to its effective cost and the
// cash to its billed cost, each to the millionth of a dollar.
type Chargeback struct {
	Payers      []Payer    // in order of name
	Unallocated capcli.USD // effective cost that no tenant can bear, because nobody used anything
	UnpaidCash  capcli.USD // billed cost that no tenant can bear
	Charges     []Charge   // in order of period, then tenant; without what no tenant can bear
}

// Chargeback divides the bill among the tenants. Each tenant bears the effective cost of its
// use. The unused part of a commitment or reservation in a charge period is shared among the
// tenants that used it in that period, in proportion to the cost of their use of it. Where
// there are none, it is shared among those that used it at any time, and failing that among all
// tenants, in proportion to the cost of their use. Cash follows the effective cost: a purchase
// is shared as the effective cost of that commitment was. Shares are divided by largest
// remainder.
func (b *Bill) Chargeback() *Chargeback {
	l := newLayout(b)
	for i := range b.Rows {
		l.direct(&b.Rows[i])
	}
	for i := range b.Rows {
		if r := &b.Rows[i]; l.common(r) {
			l.share(r)
		}
	}
	for i := range b.Rows {
		l.cash(&b.Rows[i])
	}
	return l.result()
}

// layout is an unfinished chargeback.
type layout struct {
	names   []string       // tenants, in order
	at      map[string]int // index of a tenant
	pay     []Payer        // by tenant
	out     Chargeback
	used    map[useKey]capcli.USD // direct effective cost by period, commitment or reservation, and tenant
	borne   map[useKey]capcli.USD // direct and shared effective cost by commitment and tenant, over the window
	charges map[chargeKey]int     // index into out.Charges
	cut     split
}

type useKey struct {
	start  capcli.Time // NoTime means the whole window
	what   string      // ID of a commitment or reservation
	tenant int
}

type chargeKey struct {
	start  capcli.Time
	tenant int
}

// newLayout returns a chargeback of the bill with its tenants and no costs.
func newLayout(b *Bill) *layout {
	l := &layout{at: map[string]int{}, used: map[useKey]capcli.USD{}, borne: map[useKey]capcli.USD{}, charges: map[chargeKey]int{}}
	for i := range b.Rows {
		if r := &b.Rows[i]; r.Category == Usage && !l.common(r) {
			l.names = append(l.names, r.Tenant)
		}
	}
	slices.Sort(l.names)
	l.names = slices.Compact(l.names)
	l.pay = make([]Payer, len(l.names))
	for i, n := range l.names {
		l.at[n], l.pay[i].Name = i, n
	}
	return l
}

// common reports whether a row is for something that nobody used.
func (*layout) common(r *Row) bool {
	return r.Category == Usage && (r.isUnused() || r.Quantity == 0 && r.Tenant == "")
}

// source returns the ID of the row's commitment, else of its reservation.
func source(r *Row) string { return cmp.Or(r.Commitment, r.Reservation) }

// charge adds to what tenant t pays in the period of a row.
func (l *layout) charge(r *Row, t int, effective, cash capcli.USD) {
	k := chargeKey{r.Start, t}
	i, known := l.charges[k]
	if !known {
		i = len(l.out.Charges)
		l.charges[k] = i
		l.out.Charges = append(l.out.Charges, Charge{Start: r.Start, End: r.End, Tenant: l.names[t]})
	}
	l.out.Charges[i].Effective += effective
	l.out.Charges[i].Cash += cash
}

// direct charges a row of use to its tenant.
func (l *layout) direct(r *Row) {
	if r.Category != Usage || l.common(r) {
		return
	}
	t := l.at[r.Tenant]
	p := &l.pay[t]
	p.Direct += r.EffectiveCost
	p.Used += r.Quantity
	p.Equivalent += r.ListCost
	l.charge(r, t, r.EffectiveCost, 0)
	for _, start := range []capcli.Time{r.Start, capcli.NoTime} {
		l.used[useKey{start, source(r), t}] += r.EffectiveCost
		if r.Commitment != "" && r.Reservation != "" {
			l.used[useKey{start, r.Reservation, t}] += r.EffectiveCost
		}
	}
	l.borne[useKey{capcli.NoTime, r.Commitment, t}] += r.EffectiveCost
}

// weigh sets the weight of each tenant to a cost. It reports whether any tenant has a weight.
func (l *layout) weigh(cost func(t int) capcli.USD) bool {
	l.cut.clear()
	for t := range l.names {
		l.cut.weigh(t, capcli.GPUTime(cost(t)))
	}
	return len(l.cut.who) > 0
}

// weighAll sets the weight of each tenant to the cost of all its use, else to its unit time.
func (l *layout) weighAll() bool {
	return l.weigh(func(t int) capcli.USD { return l.pay[t].Direct }) ||
		l.weigh(func(t int) capcli.USD { return capcli.USD(l.pay[t].Used) })
}

// share divides a row that nobody used among the tenants.
func (l *layout) share(r *Row) {
	what := source(r)
	switch {
	case r.Free:
		what = r.Capacity
	case r.ReservationStatus == Unused && r.Reservation != "":
		what = r.Reservation
	}
	found := l.weigh(func(t int) capcli.USD { return l.used[useKey{r.Start, what, t}] }) ||
		l.weigh(func(t int) capcli.USD { return l.used[useKey{capcli.NoTime, what, t}] }) || l.weighAll()
	if !found {
		l.out.Unallocated += r.EffectiveCost
		return
	}
	l.cut.lay(r.EffectiveCost, func(t int, part capcli.USD) {
		l.pay[t].Share += part
		l.borne[useKey{capcli.NoTime, r.Commitment, t}] += part
		l.charge(r, t, part, 0)
	})
}

// cash divides the billed cost of a row among the tenants.
func (l *layout) cash(r *Row) {
	if r.BilledCost == 0 {
		return
	}
	if r.Category == Usage && !l.common(r) {
		t := l.at[r.Tenant]
		l.pay[t].Cash += r.BilledCost
		l.charge(r, t, 0, r.BilledCost)
		return
	}
	found := r.Commitment != "" && l.weigh(func(t int) capcli.USD { return l.borne[useKey{capcli.NoTime, r.Commitment, t}] })
	if !found && r.Reservation != "" {
		found = l.weigh(func(t int) capcli.USD { return l.used[useKey{capcli.NoTime, r.Reservation, t}] })
	}
	if !found && !l.weighAll() {
		l.out.UnpaidCash += r.BilledCost
		return
	}
	l.cut.lay(r.BilledCost, func(t int, part capcli.USD) {
		l.pay[t].Cash += part
		l.charge(r, t, 0, part)
	})
}

// result sets the totals and sorts the charges.
func (l *layout) result() *Chargeback {
	for i := range l.pay {
		l.pay[i].Total = l.pay[i].Direct + l.pay[i].Share
	}
	l.out.Payers = l.pay
	slices.SortFunc(l.out.Charges, func(a, b Charge) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), strings.Compare(a.Tenant, b.Tenant))
	})
	return &l.out
}
