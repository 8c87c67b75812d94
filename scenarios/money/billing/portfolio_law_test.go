package billing_test

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/money/billing"
)

const window = 6 * hours

var families = []string{"p5", "g5"}

// drawSKU is one of a few kinds of instance; its price follows from it.
func drawSKU(t *rapid.T) (billing.SKU, capcli.Rate) {
	f, s := rapid.IntRange(0, 1).Draw(t, "family"), rapid.IntRange(0, 2).Draw(t, "size")
	sku := billing.SKU{
		Provider: "aws", Region: "r", Zone: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone"),
		Family: families[f], Size: []string{"large", "xlarge", "4xlarge"}[s],
	}
	return sku, capcli.Rate(1_000_003 * (f + 1) * []int{1, 2, 8}[s])
}

func drawUse(t *rapid.T) *billing.UseRecord {
	rec := &billing.UseRecord{From: day0 + capcli.Time(rapid.SampledFrom([]int{0, 1234}).Draw(t, "from"))}
	rec.To = day0 + window
	for range rapid.IntRange(0, 12).Draw(t, "lines") {
		sku, price := drawSKU(t)
		from := rapid.Int64Range(int64(rec.From), int64(rec.To)-1).Draw(t, "start")
		l := billing.UseLine{
			Start: capcli.Time(from), Seconds: capcli.Seconds(rapid.Int64Range(1, int64(rec.To)-from).Draw(t, "seconds")),
			Units: rapid.Int64Range(1, 4000).Draw(t, "units"), SKU: sku, Price: price,
			Account: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "account"), Tenant: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "tenant"),
		}
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			l.Kind, l.Spot = billing.UseSpot, price/3
		case 1:
			l.Kind, l.Capacity = billing.UseReserved, "own"
		}
		rec.Lines = append(rec.Lines, l)
	}
	return rec
}

// drawPortfolio draws commitments of every product. One owned pool is always
// there, for reserved use to run in.
func drawPortfolio(t *rapid.T, rec *billing.UseRecord) *billing.Portfolio {
	p := &billing.Portfolio{Commitments: []billing.Commitment{{
		ID: "own", Start: rec.From, End: rec.To, Fees: billing.Fees{Upfront: 5_000_001, Residual: 1_000_000, Hourly: 333_333}, Product: billing.Owned{Units: 5000},
	}}}
	for i := range rapid.IntRange(0, 5).Draw(t, "commitments") {
		p.Commitments = append(p.Commitments, drawCommitment(t, fmt.Sprint("c", i)))
	}
	return p
}

func drawCommitment(t *rapid.T, id string) billing.Commitment {
	start := day0 + capcli.Time(rapid.Int64Range(-2*3600, 5*3600).Draw(t, "start"))
	c := billing.Commitment{
		ID: id, Start: start, End: start + capcli.Time(rapid.Int64Range(1, 8*3600).Draw(t, "term")),
		Owner: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "owner"),
		Fees: billing.Fees{
			Upfront: capcli.USD(rapid.Int64Range(0, 50_000_000).Draw(t, "upfront")), Hourly: capcli.USD(rapid.Int64Range(0, 20_000_000).Draw(t, "hourly")),
			Monthly: capcli.USD(rapid.Int64Range(0, 9_000_000).Draw(t, "monthly")),
		},
	}
	sku, price := drawSKU(t)
	units := rapid.Int64Range(1, 3000).Draw(t, "units")
	commit := capcli.Rate(rapid.Int64Range(1, 20_000_000).Draw(t, "commit"))
	rates := []billing.PlanRate{
		{Scope: billing.Scope{Family: "p5"}, Discount: rapid.Int64Range(1, 999_999).Draw(t, "discount")},
		{Discount: rapid.Int64Range(1, 999_999).Draw(t, "discount")},
	}
	in := billing.Scope{Provider: "aws", Region: "r", Family: sku.Family, Size: sku.Size}
	switch rapid.IntRange(0, 8).Draw(t, "product") {
	case 8:
		c = exampleAt(rapid.SampledFrom(billing.Products.All()).Draw(t, "of the catalogue"), start)
		c.ID = id
		return c
	case 0:
		c.Scope, c.Product = in, billing.ReservedInstance{Units: billing.Units(units)}
	case 1:
		c.Scope, c.Product = in, billing.ReservedInstance{Units: billing.Units(units)}
		c.Scope.Zone = sku.Zone
	case 2:
		c.Product = billing.SavingsPlan{Commit: commit, Rates: rates}
	case 3:
		c.Scope.Family = sku.Family
		c.Product = billing.SavingsPlan{Commit: commit, Instance: true, Rates: rates}
	case 4:
		c.Scope, c.Product, c.Fees.Upfront = billing.Scope{Family: sku.Family}, billing.CommittedUse{Units: billing.Units(units)}, 0
	case 5:
		c.Scope, c.Fees = in, billing.Fees{}
		c.Product = billing.CapacityReservation{Units: billing.Units(units), Price: price, Targeted: rapid.Bool().Draw(t, "targeted")}
	case 6:
		c.Product = billing.AzurePlan{Commit: commit, Rates: rates}
	case 7:
		c.Fees, c.Product = billing.Fees{}, billing.MinimumSpend{Minimum: c.Fees.Upfront + 1, Rates: rates}
	}
	if rapid.IntRange(0, 3).Draw(t, "leave") > 0 || c.End-c.Start < 2 {
		return c
	}
	at := c.Start + capcli.Time(rapid.Int64Range(1, int64(c.End-c.Start)-1).Draw(t, "left"))
	share, flat := rapid.Int64Range(0, 1_000_000).Draw(t, "fee"), capcli.USD(rapid.Int64Range(0, 5_000_000).Draw(t, "flat"))
	leave := c.Terminate
	if rapid.Bool().Draw(t, "resale") {
		leave = c.Resell
	}
	if left, err := leave(at, share, flat); err == nil {
		return left
	}
	return c
}

// exampleAt is the example of a product, from an instant on.
func exampleAt(of capcli.Entry[billing.Commitment], start capcli.Time) billing.Commitment {
	c := of.Value
	c.Start, c.End = start, start+(c.End-c.Start)
	return c
}

func drawnBill(t *rapid.T, rec *billing.UseRecord, p *billing.Portfolio) *billing.Bill {
	h, err := rec.Hours(false)
	if err != nil {
		t.Fatal(err)
	}
	b, err := h.Bill(p, rapid.SampledFrom([]billing.Grain{billing.ByHour, billing.ByDay, billing.InAll}).Draw(t, "grain"))
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
		t.Fatalf("the quote is %+v, the bill %+v", quote, b.Total)
	}
	var all capcli.USD // rows are in millionths, so the shares of very little are coarse
	for _, c := range b.Commitments {
		all += c.Used + c.Unused
	}
	slack := 1e-6 + 50/max(1, all.Float()*1e6)
	near := func(what string, got, want float64, known bool) {
		if !known {
			want = -1
		}
		if got-want > slack || want-got > slack {
			t.Fatalf("%s: the quote says %g, the bill %g", what, got, want)
		}
	}
	u, known := b.Utilisation()
	near("utilisation", quote.Utilisation, u, known)
	cover, known := b.Coverage()
	near("coverage", quote.Covered, cover, known)
	var rows billing.Costs
	for _, r := range b.Rows {
		rows.List += r.ListCost
		rows.Contracted += r.ContractedCost
		rows.Billed += r.BilledCost
		rows.Effective += r.EffectiveCost
	}
	if rows != b.Total {
		t.Fatalf("the rows sum to %+v, the bill says %+v", rows, b.Total)
	}
	return b
}

// TestWhatACommitmentCostsIsWhatItsRowsSay is FOCUS's invariant, for each
// commitment whose whole term is in the window: the effective cost of its Used
// and Unused rows is the billed cost of its purchase rows.
func TestWhatACommitmentCostsIsWhatItsRowsSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := drawUse(t)
		p := drawPortfolio(t, rec)
		b := drawnBill(t, rec, p)
		billed, effective := map[string]capcli.USD{}, map[string]capcli.USD{}
		for _, r := range b.Rows {
			switch {
			case r.Commitment == "":
			case r.Category == billing.Purchase:
				billed[r.Commitment] += r.BilledCost
				if r.EffectiveCost != 0 {
					t.Fatalf("a purchase has an effective cost: %+v", r)
				}
			default:
				effective[r.Commitment] += r.EffectiveCost
				if r.BilledCost != 0 || r.Status == billing.NoStatus {
					t.Fatalf("covered use is billed: %+v", r)
				}
			}
		}
		for _, c := range p.Commitments {
			if c.Start < rec.From || c.End > rec.To {
				continue
			}
			if billed[c.ID] != effective[c.ID] {
				t.Fatalf("%s: %s was paid, its rows say %s", c.ID, billed[c.ID].Decimal(), effective[c.ID].Decimal())
			}
		}
	})
}

// TestUsedAndUnusedAreWhatWasBought: unit time of the rows of a commitment to a
// number of units is units x its time in the window.
func TestUsedAndUnusedAreWhatWasBought(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := drawUse(t)
		p := drawPortfolio(t, rec)
		b := drawnBill(t, rec, p)
		got := map[string]int64{}
		use := map[string]int64{}
		for _, r := range b.Rows {
			got[r.Commitment] += int64(r.Quantity)
			if r.Tenant != "" {
				use[r.Tenant] += int64(r.Quantity)
			}
		}
		for _, c := range p.Commitments {
			var units int64
			switch k := c.Product.(type) {
			case billing.CommittedUse:
				units = int64(k.Units)
			case billing.Owned:
				units = int64(k.Units)
			default:
				continue
			}
			if want := units * int64(max(0, min(c.End, rec.To)-max(c.Start, rec.From))); got[c.ID] != want {
				t.Fatalf("%s: rows are of %d, %d was bought", c.ID, got[c.ID], want)
			}
		}
		for _, l := range rec.Lines {
			use[l.Tenant] -= l.Units * int64(l.Seconds)
		}
		for who, left := range use {
			if left != 0 {
				t.Fatalf("the rows of %s are %d off what it used", who, left)
			}
		}
	})
}

// TestNoCommitmentsCostOnDemand holds a bill without commitments against rational
// arithmetic: each kind of use at its price, rounded once.
func TestNoCommitmentsCostOnDemand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := drawUse(t)
		rec.Lines = slices.DeleteFunc(rec.Lines, func(l billing.UseLine) bool { return l.Kind == billing.UseReserved })
		b := drawnBill(t, rec, &billing.Portfolio{})
		type kind struct {
			sku     billing.SKU
			account string
			price   capcli.Rate
		}
		times := map[kind]capcli.GPUTime{}
		for _, l := range rec.Lines {
			price := l.Price
			if l.Kind == billing.UseSpot {
				price = l.Spot
			}
			times[kind{l.SKU, l.Account, price}] += capcli.GPUTime(l.Units * int64(l.Seconds))
		}
		want := new(big.Int)
		for k, time := range times {
			want.Add(want, exact(k.price, time))
		}
		if b.Total.Billed != b.Total.Effective || want.Cmp(big.NewInt(int64(b.Total.Billed))) != 0 {
			t.Fatalf("billed %d, effective %d, want %s", b.Total.Billed, b.Total.Effective, want)
		}
	})
}

// TestAFreeCommitmentNeverCostsMore: but for what rounding each kind of use adds.
func TestAFreeCommitmentNeverCostsMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := drawUse(t)
		p := drawPortfolio(t, rec)
		before := drawnBill(t, rec, p)
		free := drawCommitment(t, "free")
		switch free.Product.(type) {
		case billing.CapacityReservation, billing.MinimumSpend:
			t.Skip("is never free")
		}
		free.Fees, free.Exit = billing.Fees{}, billing.Exit{}
		p.Commitments = append(p.Commitments, free)
		if after := drawnBill(t, rec, p); after.Total.Effective > before.Total.Effective+10 { // each kind of use is rounded
			t.Fatalf("with %+v it costs %d, without %d", free, after.Total.Effective, before.Total.Effective)
		}
	})
}

// TestOrderAndCutsOfLinesChangeNothing shuffles the lines and cuts some at
// instants inside clock hours.
func TestOrderAndCutsOfLinesChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := drawUse(t)
		p := drawPortfolio(t, rec)
		h, err := rec.Hours(false)
		if err != nil {
			t.Fatal(err)
		}
		b, err := h.Bill(p, billing.ByHour)
		if err != nil {
			t.Fatal(err)
		}
		other := *rec
		other.Lines = nil
		for _, l := range rapid.Permutation(rec.Lines).Draw(t, "order") {
			if l.Seconds > 1 && rapid.Bool().Draw(t, "cut") {
				first := l
				first.Seconds = capcli.Seconds(rapid.Int64Range(1, int64(l.Seconds)-1).Draw(t, "at"))
				l.Start += capcli.Time(first.Seconds)
				l.Seconds -= first.Seconds
				other.Lines = append(other.Lines, first)
			}
			other.Lines = append(other.Lines, l)
		}
		h2, err := other.Hours(false)
		if err != nil {
			t.Fatal(err)
		}
		q := &billing.Portfolio{Commitments: rapid.Permutation(p.Commitments).Draw(t, "commitments")}
		b2, err := h2.Bill(q, billing.ByHour)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(b, b2) {
			t.Fatalf("the bill changed from\n%+v to\n%+v", b, b2)
		}
	})
}
