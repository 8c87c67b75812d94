package billing_test

import (
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
)

// day0 is 2027-01-01T00:00:00Z, the start of a clock hour.
const day0 = capcli.Time(1798761600)

const hours = capcli.Time(3600)

// useOn is on-demand use of whole units from some second after day0.
func useOn(sku billing.SKU, units int64, from, seconds capcli.Seconds, price capcli.Rate) billing.UseLine {
	return billing.UseLine{Start: day0 + capcli.Time(from), Seconds: seconds, Units: 1000 * units, SKU: sku, Price: price}
}

// ri is reserved instances for an hour from day0 that cost a rate each.
func ri(id string, scope billing.Scope, units int64, rate capcli.Rate) billing.Commitment {
	return billing.Commitment{
		ID: id, Start: day0, End: day0 + hours, Scope: scope,
		Fees:    billing.Fees{Hourly: rate * capcli.Rate(units)},
		Product: billing.ReservedInstance{Units: billing.Units(1000 * units)},
	}
}

// plan is a savings plan for an hour from day0.
func plan(id string, commit capcli.Rate, rates ...billing.PlanRate) billing.Commitment {
	return billing.Commitment{
		ID: id, Start: day0, End: day0 + hours,
		Fees: billing.Fees{Hourly: commit}, Product: billing.SavingsPlan{Commit: commit, Rates: rates},
	}
}

func size(s string, rate capcli.Rate) billing.PlanRate {
	return billing.PlanRate{Scope: billing.Scope{Size: s}, Rate: rate}
}

// oldPlan is the use of AWS's older worked example, and its plan rates.
func oldPlan(t *testing.T, commit string) ([]billing.UseLine, []billing.Commitment) {
	sku := func(s string) billing.SKU { return billing.SKU{Provider: "aws", Size: s} }
	d := func(s string) capcli.USD { return usd(t, s) }
	use := []billing.UseLine{
		useOn(sku("c5.9xlarge"), 1, 0, 3600, d("4")), useOn(sku("c5.24xlarge"), 1, 0, 3600, d("10")),
		useOn(sku("vcpu"), 10, 0, 3600, d("1.5")), useOn(sku("gb"), 5, 0, 3600, d("2")),
	}
	sp := plan("sp", d(commit), size("c5.9xlarge", d("2")), size("c5.24xlarge", d("8")), size("vcpu", d("1")), size("gb", d("1")))
	return use, []billing.Commitment{sp}
}

// newPlan is the use of AWS's newer worked example, and its plan rates.
func newPlan(t *testing.T, commit string) ([]billing.UseLine, []billing.Commitment) {
	sku := func(s string) billing.SKU { return billing.SKU{Provider: "aws", Size: s} }
	d := func(s string) capcli.USD { return usd(t, s) }
	use := []billing.UseLine{
		useOn(sku("r5"), 4, 0, 3600, d("1")), useOn(sku("vcpu"), 400, 0, 3600, d(".04")), useOn(sku("gb"), 1600, 0, 3600, d(".004")),
		useOn(sku("m5"), 1, 0, 3600, d("10")), useOn(sku("gb-s"), 1_500_000, 0, 1, 3600*d(".000015")),
		useOn(sku("requests"), 1, 0, 3600, d(".20")),
	}
	sp := plan("sp", d(commit), size("r5", d(".7")), size("vcpu", d(".03")), size("gb", d(".003")), size("m5", d("8.2")),
		billing.PlanRate{Scope: billing.Scope{Size: "gb-s"}, Rate: 45_900})
	return use, []billing.Commitment{sp}
}

// vector is one worked example of a provider: what is left at on-demand prices
// and what of the commitments was used and not used.
type vector struct {
	name         string
	lines        []billing.UseLine
	commitments  []billing.Commitment
	standard     string // billed for use without a commitment
	used, unused string // effective cost of commitments
	total        string // effective, all
}

func reservedVectors(t *testing.T) []vector {
	d := func(s string) capcli.USD { return usd(t, s) }
	m5 := billing.SKU{Provider: "aws", Region: "us-east-1", Zone: "us-east-1a", Family: "m5", Size: "large"}
	m3 := func(size string) billing.SKU {
		return billing.SKU{Provider: "aws", Region: "us-east-1", Zone: "us-east-1b", Family: "m3", Size: size}
	}
	g5 := func(size string) billing.SKU {
		return billing.SKU{Provider: "aws", Region: "us-east-1", Family: "g5", Size: size}
	}
	windows := m3("large")
	windows.OS = "windows"
	in := billing.Scope{Provider: "aws", Region: "us-east-1", Family: "m5", Size: "large"}
	big := billing.Scope{Provider: "aws", Region: "us-east-1", Family: "m3", Size: "2xlarge"}
	zonal := billing.Scope{Provider: "aws", Region: "us-east-1", Zone: "us-east-1b", Family: "m3", Size: "2xlarge"}
	spot := useOn(m5, 1, 0, 3600, d("1"))
	spot.Kind, spot.Spot = billing.UseSpot, d(".3")
	owner := func(account string, c billing.Commitment) billing.Commitment { c.Owner = account; return c }
	at := func(account string, l billing.UseLine) billing.UseLine { l.Account = account; return l }
	return []vector{
		{"aws ri: one, four instances for an hour", []billing.UseLine{useOn(m5, 4, 0, 3600, d("1"))}, []billing.Commitment{ri("a", in, 1, d(".6"))}, "3", ".6", "0", "3.6"},
		{"aws ri: one, four instances for a quarter of the same hour", []billing.UseLine{useOn(m5, 4, 600, 900, d("1"))}, []billing.Commitment{ri("a", in, 1, d(".6"))}, "0", ".6", "0", ".6"},
		{"aws ri: one after the other in the hour", []billing.UseLine{useOn(m5, 1, 0, 900, d("1")), useOn(m5, 1, 900, 900, d("1")), useOn(m5, 1, 1800, 900, d("1")), useOn(m5, 1, 2700, 900, d("1"))}, []billing.Commitment{ri("a", in, 1, d(".6"))}, "0", ".6", "0", ".6"},
		{"aws ri: paid in an hour without use", nil, []billing.Commitment{ri("a", in, 1, d(".6"))}, "0", "0", ".6", ".6"},
		{"aws ri: 2xlarge covers two large and one of two xlarge", []billing.UseLine{useOn(m3("large"), 2, 0, 3600, d(".11")), useOn(m3("xlarge"), 2, 0, 3600, d(".2"))}, []billing.Commitment{ri("a", big, 1, d(".24"))}, ".2", ".24", "0", ".44"},
		{"aws ri: half of a 2xlarge by an 1xlarge-sized one", []billing.UseLine{useOn(m3("2xlarge"), 1, 0, 3600, d(".4"))}, []billing.Commitment{ri("a", billing.Scope{Provider: "aws", Region: "us-east-1", Family: "m3", Size: "xlarge"}, 1, d(".12"))}, ".2", ".12", "0", ".32"},
		{"aws ri: g5 has no flexible sizes", []billing.UseLine{useOn(g5("xlarge"), 1, 0, 3600, d("1"))}, []billing.Commitment{ri("a", billing.Scope{Region: "us-east-1", Family: "g5", Size: "2xlarge"}, 1, d(".6"))}, "1", "0", ".6", "1.6"},
		{"aws ri: windows has no flexible sizes", []billing.UseLine{useOn(windows, 1, 0, 3600, d("1"))}, []billing.Commitment{ri("a", big, 1, d(".6"))}, "1", "0", ".6", "1.6"},
		{"aws ri: a zonal one has no flexible sizes", []billing.UseLine{useOn(m3("large"), 1, 0, 3600, d("1"))}, []billing.Commitment{ri("a", zonal, 1, d(".6"))}, "1", "0", ".6", "1.6"},
		{"aws ri: zonal before regional", []billing.UseLine{useOn(m3("2xlarge"), 1, 0, 3600, d("1"))}, []billing.Commitment{ri("regional", big, 1, d(".6")), ri("zonal", zonal, 1, d(".5"))}, "0", ".5", ".6", "1.1"},
		{"aws ri: never spot", []billing.UseLine{spot}, []billing.Commitment{ri("a", in, 1, d(".6"))}, ".3", "0", ".6", ".9"},
		{"aws ri: the owner's instance first", []billing.UseLine{at("a", useOn(m5, 1, 0, 3600, d("1"))), at("b", useOn(m5, 1, 0, 3600, d("2")))}, []billing.Commitment{owner("b", ri("r", in, 1, d(".6")))}, "1", ".6", "0", "1.6"},
	}
}

func planVectors(t *testing.T) []vector {
	d := func(s string) capcli.USD { return usd(t, s) }
	old25, sp25 := oldPlan(t, "25")
	old10, sp10 := oldPlan(t, "10")
	old18, sp18 := oldPlan(t, "18")
	all, spAll := newPlan(t, "46.925")
	two, sp2 := newPlan(t, "2")
	x := billing.SKU{Provider: "aws", Region: "r", Family: "p5", Size: "x"}
	one := []billing.UseLine{useOn(x, 3, 0, 3600, d("1"))}
	family := plan("family", d(".8"), size("x", d(".8")))
	family.Product = billing.SavingsPlan{Commit: d(".8"), Instance: true, Rates: []billing.PlanRate{size("x", d(".8"))}}
	spot := useOn(x, 1, 0, 3600, d("1"))
	spot.Kind, spot.Spot = billing.UseSpot, d(".3")
	return []vector{
		{"aws plan: 25 dollars cover all", old25, sp25, "0", "25", "0", "25"},
		{"aws plan: 10 dollars cover GB, c5.9xlarge and 3 vCPU", old10, sp10, "20.5", "10", "0", "30.5"},
		{"aws plan: 18 dollars", old18, sp18, "8.75", "18", "0", "26.75"},
		{"aws plan: newer example, all covered but requests", all, spAll, ".2", "46.925", "0", "47.125"},
		{"aws plan: newer example, 2 dollars cover 2.857 r5", two, sp2, "56.242857", "2", "0", "58.242857"},
		{"aws plan: the highest saving of two plans first", one, []billing.Commitment{plan("a", d(".7"), size("x", d(".7"))), plan("b", d("1.2"), size("x", d(".6")))}, "0", "1.9", "0", "1.9"},
		{"aws plan: one family before all, though it saves less", one[:1:1], []billing.Commitment{plan("all", d("1.8"), size("x", d(".6"))), family}, "0", "2", ".6", "2.6"},
		{"aws plan: after reserved instances", one, []billing.Commitment{plan("a", d("1.4"), size("x", d(".7"))), ri("ri", billing.Scope{Family: "p5", Size: "x"}, 2, d(".6"))}, "0", "1.9", ".7", "2.6"},
		{"aws plan: never spot", []billing.UseLine{spot}, []billing.Commitment{plan("a", d("1"), size("x", d(".5")))}, ".3", "0", "1", "1.3"},
		{"focus: three quarters of one dollar an hour", []billing.UseLine{useOn(x, 1, 0, 3600, d("1.5"))}, []billing.Commitment{plan("a", d("1"), size("x", d(".75")))}, "0", ".75", ".25", "1"},
		{"focus: half a dollar over the plan", []billing.UseLine{useOn(x, 3, 0, 1800, d("1"))}, []billing.Commitment{plan("a", d("1"), size("x", d("1")))}, ".5", "1", "0", "1.5"},
	}
}

func otherVectors(t *testing.T) []vector {
	d := func(s string) capcli.USD { return usd(t, s) }
	vm := billing.SKU{Provider: "azure", Region: "eastus", Family: "nd", Size: "96"}
	az := func(id string, scope billing.Scope, units int64, rate capcli.Rate) billing.Commitment {
		c := ri(id, scope, units, rate)
		c.Product = billing.AzureReservation{Units: billing.Units(1000 * units)}
		return c
	}
	azPlan := func(id string, start, end capcli.Time, commit, rate capcli.Rate) billing.Commitment {
		return billing.Commitment{
			ID: id, Start: start, End: end, Fees: billing.Fees{Hourly: commit},
			Product: billing.AzurePlan{Commit: commit, Rates: []billing.PlanRate{{Rate: rate}}},
		}
	}
	const year = 365 * 24 * hours
	gpu := billing.SKU{Provider: "gcp", Region: "us-central1", GPUModel: "H100"}
	cud := billing.Commitment{
		ID: "cud", Start: day0, End: day0 + hours, Scope: billing.Scope{Provider: "gcp", Region: "us-central1", GPUModel: "H100"},
		Fees: billing.Fees{Hourly: 8 * d("4.858")}, Product: billing.CommittedUse{Units: 8000, Reservation: "res"},
	}
	flexible := billing.Commitment{
		ID: "flex", Start: day0, End: day0 + hours, Fees: billing.Fees{Hourly: d("7.2")},
		Product: billing.FlexibleUse{Commit: d("7.2"), Rates: []billing.PlanRate{{Scope: billing.Scope{Family: "n2"}, Discount: 280_000}}},
	}
	free := useOn(billing.SKU{Provider: "aws"}, 1, 0, 3599, d("10"))
	free.Kind, free.Spot, free.Ended = billing.UseSpot, d("3"), billing.EndedByProvider
	late, mine, azure := free, free, free
	late.Seconds, mine.Ended = 3600, billing.EndedByUser

	azure.SKU.Provider = "azure"
	block := billing.Commitment{
		ID: "block", Start: day0 - 23*hours, End: day0 + hours, Fees: billing.Fees{Upfront: d("240")},
		Product: billing.CapacityBlock{Units: 2000, EndsEarly: billing.BlockEndsEarly},
	}
	inBlock := useOn(gpu, 3, 0, 3600, d("11"))
	inBlock.Capacity = "block"
	short := useOn(gpu, 1, 0, 1, d("3600"))
	short.Minimum = billing.MinimumAWS
	return []vector{
		{"azure: 0.75 and 0.5 machine-hours, one reserved", []billing.UseLine{useOn(vm, 1, 0, 2700, d("1")), useOn(vm, 1, 0, 1800, d("1"))}, []billing.Commitment{az("r", billing.Scope{}, 1, d(".6"))}, ".25", ".6", "0", ".85"},
		{"azure: 0.5 and 1 machine-hours, one reserved", []billing.UseLine{useOn(vm, 1, 0, 1800, d("1")), useOn(vm, 1, 0, 3600, d("1"))}, []billing.Commitment{az("r", billing.Scope{}, 1, d(".6"))}, ".5", ".6", "0", "1.1"},
		{"azure: reservation before plan", []billing.UseLine{useOn(vm, 1, 0, 3600, d("1"))}, []billing.Commitment{azPlan("p", day0, day0+hours, d(".5"), d(".5")), az("r", billing.Scope{}, 1, d(".6"))}, "0", ".6", ".5", "1.1"},
		{"azure: three years before one year", []billing.UseLine{useOn(vm, 1, 0, 3600, d("1"))}, []billing.Commitment{azPlan("1y", day0-year+hours, day0+hours, d(".5"), d(".5")), azPlan("3y", day0-3*year+hours, day0+hours, d(".6"), d(".6"))}, "0", ".6", ".5", "1.1"},
		{"azure: the narrower scope first", []billing.UseLine{useOn(vm, 1, 0, 3600, d("1"))}, []billing.Commitment{az("a-wide", billing.Scope{Provider: "azure"}, 1, d(".6")), az("b-narrow", billing.Scope{Provider: "azure", Region: "eastus"}, 1, d(".5"))}, "0", ".5", ".6", "1.1"},
		{"gcp: committed use is paid used or not", []billing.UseLine{useOn(gpu, 6, 0, 3600, d("11.06"))}, []billing.Commitment{cud}, "0", "29.148", "9.716", "38.864"},
		{"gcp: beyond the commitment on demand", []billing.UseLine{useOn(gpu, 10, 0, 3600, d("11.06"))}, []billing.Commitment{cud}, "22.12", "38.864", "0", "60.984"},
		{"gcp: flexible, 28 % off eligible families", []billing.UseLine{useOn(billing.SKU{Family: "n2"}, 12, 0, 3600, d("1")), useOn(gpu, 1, 0, 3600, d("11.06"))}, []billing.Commitment{flexible}, "13.06", "7.2", "0", "20.26"},
		{"capacity block: use that names it, beyond it and after its end on demand", []billing.UseLine{inBlock}, []billing.Commitment{block}, "22", "5", "5", "32"},
		{"spot: ended by AWS in its first hour", []billing.UseLine{free}, nil, "0", "0", "0", "0"},
		{"spot: ended by AWS after an hour", []billing.UseLine{late}, nil, "3", "0", "0", "3"},
		{"spot: ended by its user in its first hour", []billing.UseLine{mine}, nil, "2.999167", "0", "0", "2.999167"},
		{"spot: ended by Azure in its first hour", []billing.UseLine{azure}, nil, "2.999167", "0", "0", "2.999167"},
		{"on demand: a second with a minute's minimum", []billing.UseLine{short}, nil, "60", "0", "0", "60"},
	}
}

func TestProvidersWorkedExamples(t *testing.T) {
	vectors := append(append(reservedVectors(t), planVectors(t)...), otherVectors(t)...)
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			rec := &billing.UseRecord{From: day0, To: day0 + hours, Lines: v.lines}
			b := billOf(t, rec, &billing.Portfolio{Commitments: v.commitments}, billing.ByMonth)
			var standard, used, unused capcli.USD
			for _, r := range b.Rows {
				switch {
				case r.Category == billing.Purchase:
				case r.Status == billing.Used:
					used += r.EffectiveCost
				case r.Status == billing.Unused:
					unused += r.EffectiveCost
				default:
					standard += r.BilledCost
				}
			}
			for _, c := range []struct {
				what string
				got  capcli.USD
				want string
			}{{"standard", standard, v.standard}, {"used", used, v.used}, {"unused", unused, v.unused}, {"total", b.Total.Effective, v.total}} {
				if want := usd(t, c.want); c.got != want {
					t.Errorf("%s is %s, want %s", c.what, c.got.Decimal(), want.Decimal())
				}
			}
		})
	}
}

// billOf bills a record, and holds the bill against the quote and itself.
func billOf(t testing.TB, rec *billing.UseRecord, p *billing.Portfolio, grain billing.Grain) *billing.Bill {
	t.Helper()
	h, err := rec.Hours(false)
	if err != nil {
		t.Fatal(err)
	}
	b, err := h.Bill(p, grain)
	if err != nil {
		t.Fatal(err)
	}
	q, err := h.Quoter()
	if err != nil {
		t.Fatal(err)
	}
	quote, err := q.Quote(p)
	if err != nil {
		t.Fatal(err)
	}
	if quote.Costs != b.Total || quote.Equivalent != b.Equivalent {
		t.Errorf("the quote is %+v, %d; the bill %+v, %d", quote.Costs, quote.Equivalent, b.Total, b.Equivalent)
	}
	return b
}
