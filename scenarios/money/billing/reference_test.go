package billing_test

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/money/billing"
)

// kindOfMachine is a machine that the reference settles. Machines of one group have sizes of one
// family; a factor of 0 has no flexibility.
type kindOfMachine struct {
	provider, family, size string
	factor                 int64
	price                  capcli.Rate
}

var kindsOfMachines = []kindOfMachine{
	{"aws", "p5", "4xlarge", 128, 6_880_001},
	{"aws", "p5", "12xlarge", 384, 20_640_007},
	{"aws", "p5", "48xlarge", 1536, 55_040_013},
	{"aws", "g5", "xlarge", 0, 1_006_000},
	{"aws", "g5", "12xlarge", 0, 5_672_000},
	{"azure", "Standard", "NC6s_v3", 1, 3_060_000},
	{"azure", "Standard", "NC24s_v3", 4, 13_463_999},
	{"gcp", "a3", "highgpu-8g", 0, 88_490_003},
}

func (k *kindOfMachine) sku(zone string) billing.SKU {
	s := billing.SKU{Provider: k.provider, Region: "r", Zone: zone, Family: k.family, Size: k.size}
	if k.provider == "azure" {
		s.Family, s.Size = billing.CutInstanceType(k.family + "_" + k.size)
	}
	return s
}

// stretch is a job: machines of a kind in a zone.
type stretch struct {
	kind       int
	zone       string
	units      int64
	start, end int64 // seconds since the first hour
}

// purchase is a commitment of the reference. Its term begins and ends on whole hours.
type purchase struct {
	product    string // zonal, reserved, instance plan, plan, reservation (open, of a zone)
	kind       int
	zone       string
	units      int64
	rate       capcli.Rate // of a unit-hour; of a plan, its commitment
	rates      []capcli.Rate
	start, end int64
}

// reference settles jobs and purchases hour by hour in fractions, as the README of
// golden/commitments says, and returns what it all costs: each kind of use that nothing covers, in
// each zone, rounded once, and each purchase.
func reference(jobs []stretch, bought []purchase, hours int64) *big.Int {
	left, idle := map[[2]string]*big.Rat{}, map[[2]string]*big.Rat{} // unit-seconds over all hours, by kind and zone
	total := new(big.Int)
	for h := range hours {
		use, free := useInHour(jobs, bought, h)
		for _, zonal := range []bool{true, false} {
			for _, p := range bought {
				if p.product == "zonal" && zonal || p.product == "reserved" && !zonal {
					p.cover(use, free, h)
				}
			}
		}
		for _, product := range []string{"instance plan", "plan"} {
			applyPlans(product, bought, use, free, h)
		}
		for key, amount := range use {
			left[key] = plusRat(left[key], amount)
		}
		for key, amount := range free {
			idle[key] = plusRat(idle[key], amount)
		}
	}
	for _, sums := range []map[[2]string]*big.Rat{left, idle} {
		for key, amount := range sums {
			var k int
			_, _ = fmt.Sscan(key[0], &k)
			total.Add(total, roundedRat(new(big.Rat).Mul(amount, big.NewRat(int64(kindsOfMachines[k].price), 3600))))
		}
	}
	for _, p := range bought {
		if p.product != "reservation" {
			total.Add(total, big.NewInt(int64(p.rate)*max(1, p.units)*overlapOf(&p, 0, hours*3600)/3600))
		}
	}
	return total
}

func plusRat(sum, x *big.Rat) *big.Rat {
	if sum == nil {
		return new(big.Rat).Set(x)
	}
	return sum.Add(sum, x)
}

// roundedRat rounds half up.
func roundedRat(x *big.Rat) *big.Int {
	twice := new(big.Rat).Add(x, big.NewRat(1, 2))
	return new(big.Int).Div(twice.Num(), twice.Denom())
}

func overlapOf(p *purchase, from, to int64) int64 { return max(0, min(p.end, to)-max(p.start, from)) }

// useInHour returns the use of an hour, and the unused part of reservations, in unit-seconds: second
// by second.
func useInHour(jobs []stretch, bought []purchase, h int64) (use, free map[[2]string]*big.Rat) {
	use, free = map[[2]string]*big.Rat{}, map[[2]string]*big.Rat{}
	for _, j := range jobs {
		if n := min(j.end, 3600*(h+1)) - max(j.start, 3600*h); n > 0 {
			key := [2]string{fmt.Sprint(j.kind), j.zone}
			use[key] = plusRat(use[key], big.NewRat(j.units*n, 1))
		}
	}
	for _, p := range bought {
		if p.product != "reservation" {
			continue
		}
		edges := []int64{3600 * h, 3600 * (h + 1)}
		for _, j := range jobs {
			edges = append(edges, j.start, j.end)
		}
		slices.Sort(edges)
		for i := 1; i < len(edges); i++ {
			from, to := max(edges[i-1], 3600*h, p.start), min(edges[i], 3600*(h+1), p.end)
			if from >= to {
				continue
			}
			running := int64(0)
			for _, j := range jobs {
				if j.kind == p.kind && j.zone == p.zone && j.start <= from && j.end >= to {
					running += j.units
				}
			}
			key := [2]string{fmt.Sprint(p.kind), p.zone}
			free[key] = plusRat(free[key], big.NewRat(max(0, p.units-running)*(to-from), 1))
		}
	}
	return use, free
}

// keysOf returns the kinds and zones, the smallest size first.
func keysOf(m map[[2]string]*big.Rat) [][2]string {
	var out [][2]string
	for k := range kindsOfMachines {
		for _, zone := range []string{"ra", "rb"} {
			if key := [2]string{fmt.Sprint(k), zone}; m[key] != nil {
				out = append(out, key)
			}
		}
	}
	return out
}

// cover applies reserved machines to an hour: the running use, then the unused part of reservations.
func (p *purchase) cover(use, free map[[2]string]*big.Rat, h int64) {
	own := &kindsOfMachines[p.kind]
	factor := max(1, own.factor)
	rest := big.NewRat(p.units*factor*overlapOf(p, 3600*h, 3600*(h+1)), 1)
	for _, m := range []map[[2]string]*big.Rat{use, free} {
		for _, key := range keysOf(m) {
			var k int
			_, _ = fmt.Sscan(key[0], &k)
			other := &kindsOfMachines[k]
			flexible := p.product == "reserved" && own.factor > 0 && other.provider == own.provider && other.family == own.family
			if k != p.kind && !flexible || p.product == "zonal" && key[1] != p.zone {
				continue
			}
			take := new(big.Rat).Mul(m[key], big.NewRat(max(1, other.factor), 1))
			if take.Cmp(rest) > 0 {
				take.Set(rest)
			}
			rest.Sub(rest, take)
			m[key] = new(big.Rat).Sub(m[key], take.Quo(take, big.NewRat(max(1, other.factor), 1)))
		}
		if p.product == "zonal" {
			return
		}
	}
}

// applyPlans applies all plans of a type to an hour: the use with the highest saving first, ties to
// the lowest rate, then the unused part of reservations in the same order.
func applyPlans(product string, bought []purchase, use, free map[[2]string]*big.Rat, h int64) {
	type claim struct{ plan, kind int }
	var claims []claim
	rest := make([]*big.Rat, len(bought))
	for i := range bought {
		p := &bought[i]
		rest[i] = big.NewRat(int64(p.rate)*overlapOf(p, 3600*h, 3600*(h+1)), 1)
		for k := range p.rates {
			if p.product == product && p.rates[k] > 0 {
				claims = append(claims, claim{i, k})
			}
		}
	}
	saving := func(c claim) *big.Rat {
		return big.NewRat(int64(bought[c.plan].rates[c.kind]), int64(kindsOfMachines[c.kind].price))
	}
	slices.SortFunc(claims, func(a, b claim) int {
		return cmp.Or(saving(a).Cmp(saving(b)), cmp.Compare(bought[a.plan].rates[a.kind], bought[b.plan].rates[b.kind]), cmp.Compare(a.plan, b.plan))
	})
	for _, m := range []map[[2]string]*big.Rat{use, free} {
		for _, c := range claims {
			rate := big.NewRat(int64(bought[c.plan].rates[c.kind]), 1)
			for _, key := range keysOf(m) {
				if key[0] != fmt.Sprint(c.kind) {
					continue
				}
				take := new(big.Rat).Mul(m[key], rate)
				if take.Cmp(rest[c.plan]) > 0 {
					take.Set(rest[c.plan])
				}
				rest[c.plan].Sub(rest[c.plan], take)
				m[key] = new(big.Rat).Sub(m[key], take.Quo(take, rate))
			}
		}
	}
}

const daysHours = 30

// drawStretches draws jobs of all kinds.
func drawStretches(t *rapid.T) []stretch {
	var out []stretch
	for range rapid.IntRange(1, 16).Draw(t, "jobs") {
		start := rapid.Int64Range(0, daysHours*3600-1).Draw(t, "start")
		out = append(out, stretch{
			rapid.IntRange(0, len(kindsOfMachines)-1).Draw(t, "kind"), rapid.SampledFrom([]string{"ra", "rb"}).Draw(t, "zone"),
			rapid.Int64Range(1, 5).Draw(t, "units"), start, rapid.Int64Range(start+1, daysHours*3600).Draw(t, "end"),
		})
	}
	return out
}

// drawPurchases draws purchases whose order hangs on the rules alone: no zonal reserved machine beside
// a reservation of its kind and zone, and one reservation of a kind and zone.
func drawPurchases(t *rapid.T) []purchase {
	var out []purchase
	taken := map[string]bool{}
	for range rapid.IntRange(0, 7).Draw(t, "purchases") {
		start := rapid.Int64Range(-20, daysHours-1).Draw(t, "from")
		p := purchase{
			kind: rapid.IntRange(0, len(kindsOfMachines)-1).Draw(t, "kind"), zone: rapid.SampledFrom([]string{"ra", "rb"}).Draw(t, "zone"),
			units: rapid.Int64Range(1, 4).Draw(t, "units"), start: 3600 * start, end: 3600 * (start + rapid.Int64Range(1, 60).Draw(t, "term")),
		}
		k := &kindsOfMachines[p.kind]
		p.rate = k.price * capcli.Rate(rapid.IntRange(30, 90).Draw(t, "share")) / 100
		p.product = rapid.SampledFrom([]string{"zonal", "reserved", "instance plan", "plan", "plan", "reservation"}).Draw(t, "product")
		switch p.product {
		case "zonal", "reservation":
			key := fmt.Sprint(p.kind, p.zone)
			if k.provider != "aws" || taken[key] {
				continue
			}
			taken[key] = true
		case "instance plan", "plan":
			if p.product == "instance plan" && k.provider != "aws" {
				continue
			}
			p.units, p.rates = 1, make([]capcli.Rate, len(kindsOfMachines))
			for i := range kindsOfMachines {
				o := &kindsOfMachines[i]
				if o.provider == k.provider && (p.product == "plan" || o.family == k.family) {
					p.rates[i] = o.price * capcli.Rate(rapid.IntRange(300_000, 900_000).Draw(t, "plan rate")) / 1_000_000
				}
			}
		}
		out = append(out, p)
	}
	return out
}

// commitment returns a purchase as a commitment.
func (p *purchase) commitment(i int) billing.Commitment {
	k := &kindsOfMachines[p.kind]
	c := billing.Commitment{
		ID: fmt.Sprint("c", i), Start: day0 + capcli.Time(p.start), End: day0 + capcli.Time(p.end), Fees: billing.Fees{Hourly: p.rate * capcli.Rate(p.units)},
	}
	s := k.sku("")
	c.Scope = billing.Scope{Provider: s.Provider, Region: s.Region, Family: s.Family, Size: s.Size}
	units := billing.Units(1000 * p.units)
	var rates billing.Rates
	for i, rate := range p.rates {
		if rate > 0 {
			s := kindsOfMachines[i].sku("")
			rates = append(rates, billing.PlanRate{Scope: billing.Scope{Provider: s.Provider, Family: s.Family, Size: s.Size}, Rate: rate})
		}
	}
	switch {
	case p.product == "zonal":
		c.Scope.Zone, c.Product = p.zone, billing.ReservedInstance{Units: units}
	case p.product == "reservation":
		c.Scope.Zone, c.Fees, c.Product = p.zone, billing.Fees{}, billing.CapacityReservation{Units: units, Price: k.price}
	case p.product == "reserved" && k.provider == "azure":
		c.Product = billing.AzureReservation{Units: units}
	case p.product == "reserved" && k.provider == "gcp":
		c.Product = billing.CommittedUse{Units: units}
	case p.product == "reserved":
		c.Product = billing.ReservedInstance{Units: units}
	case k.provider == "azure":
		c.Scope, c.Product = billing.Scope{}, billing.AzurePlan{Commit: p.rate, Rates: rates}
	case k.provider == "gcp":
		c.Scope, c.Product = billing.Scope{}, billing.FlexibleUse{Commit: p.rate, Rates: rates}
	default:
		c.Scope, c.Product = billing.Scope{}, billing.SavingsPlan{Commit: p.rate, Instance: p.product == "instance plan", Rates: rates}
	}
	return c
}

// TestBillsEqualFractions: 500 drawn portfolios cost what the reference says, to the millionth of a
// dollar, in the bill and in the quote.
func TestBillsEqualFractions(t *testing.T) {
	checked := 0
	rapid.Check(t, func(t *rapid.T) {
		for range 5 { // rapid.checks is 100
			jobs, bought := drawStretches(t), drawPurchases(t)
			rec := &billing.UseRecord{From: day0, To: day0 + daysHours*hours}
			for _, j := range jobs {
				k := &kindsOfMachines[j.kind]
				rec.Lines = append(rec.Lines, billing.UseLine{Start: day0 + capcli.Time(j.start), Seconds: capcli.Seconds(j.end - j.start), Units: 1000 * j.units, SKU: k.sku(j.zone), Price: k.price})
			}
			var p billing.Portfolio
			for i := range bought {
				p.Commitments = append(p.Commitments, bought[i].commitment(i))
			}
			want := reference(jobs, bought, daysHours)
			slack := int64(0) // use inside a reservation and beside it are rounded apart
			for i := range bought {
				slack += int64(strings.Count(bought[i].product, "reservation"))
			}
			got := drawnBill(t, rec, &p).Total.Effective
			if off := new(big.Int).Sub(want, big.NewInt(int64(got))); off.Abs(off).Cmp(big.NewInt(slack)) > 0 {
				t.Fatalf("%+v\n%+v\ncost %d, by fractions %s", jobs, bought, got, want)
			}
			checked++
		}
	})
	if checked < 500 {
		t.Errorf("%d portfolios were checked, want 500", checked)
	}
}
