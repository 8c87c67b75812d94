package joint

import (
	"testing"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/money/billing"
)

// nightRate is a product in one file: its rule, how files state it, and its entry in the catalogue.
type nightRate struct{ billing.ReservedInstance }

func (nightRate) Name() string { return "night_rate" }

func (p nightRate) Form() *billing.Form {
	p = nightRate{}
	f := p.ReservedInstance.Form()
	f.Aliases, f.Units, f.Options[0].Into = []string{"nights"}, &p.Units, &p.Units
	f.Product = func() billing.Product { return p }
	return f
}

func init() {
	billing.Products.Add("night_rate", "made up: units of a family", billing.Commitment{
		ID: "night_rate", Start: day0, End: day0 + capcli.Time(capcli.Day), Product: nightRate{billing.ReservedInstance{Units: 1000}},
	})
}

// A product of the catalogue is usable in portfolios of bills, in scenarios and in plans, without a word elsewhere.
func TestOwnProduct(t *testing.T) {
	p, err := scenarios.ParsePortfolio("p.yaml", []byte("capcli: portfolio/v1\ncommitments:\n"+
		"- {product: nights, from: 2027-01-01, term: 1d, units: 2, family: p5, price: 3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	use := billing.UseLine{Start: day0, Seconds: capcli.Day, Units: 3000, SKU: billing.SKU{Family: "p5"}, Price: 5 * capcli.Dollar}
	s, err := billing.State(&billing.Request{
		Read: &billing.UseReport{}, Use: &billing.UseRecord{From: day0, To: day0 + capcli.Time(capcli.Day), Lines: []billing.UseLine{use}}, Portfolio: p.Portfolio, From: capcli.NoTime, Until: capcli.NoTime,
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := 24 * (2*3 + 5) * capcli.Dollar; s.Total.Effective != want {
		t.Errorf("the bill is %s, want %s", s.Total.Effective, want)
	}

	sc, err := scenarios.Parse("s.yaml", []byte("capcli: scenario/v1\nname: x\nperiod: 2027-01-01 to 2027-01-02\ncapacity: [{name: od, kind: on_demand, price: 5}]\n"+
		"commitments:\n- {product: night_rate, from: 2027-01-01, term: 1d, units: 1, price: 3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := sc.Commitments[0].Product.Name(); got != "night_rate" {
		t.Errorf("the scenario bought %s", got)
	}

	m, err := scenarios.ParseMarket("m.yaml", []byte("capcli: market/v1\nevery: 1d\ngpus: [{gpu_model: H100, on_demand: 5}]\n"+
		"offers: [{product: night_rate, gpu_model: H100, term: 1d, price: 3}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	day := make([]float64, 24)
	for i := range day {
		day[i] = 2
	}
	_, got := solved(t, m, []*plan.Curve{hourCurve(t, day...)})
	if got.cost != 24*2*3*capcli.Dollar || len(got.purchases) != 1 {
		t.Errorf("the plan costs %s with %d purchases, want $144 with one", got.cost, len(got.purchases))
	}
}
