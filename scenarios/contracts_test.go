package scenarios

import (
	"context"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
)

// runOf plays a scenario whose jobs are given.
func runOf(t *testing.T, text string, jobs ...capcli.Job) (*Scenario, *simulate.Result) {
	t.Helper()
	s, err := Parse("s.yaml", []byte("capcli: scenario/v1\nperiod: 2027-01-01 to 2027-01-04\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := s.Config(func(yield func(capcli.Job, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	}, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	res, err := simulate.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s, res
}

const newYear = capcli.Time(1798761600)

// TestABlocksNodesGoBeforeItsEnd: with breakdowns and without, nothing runs in
// the last hour of a block that ends an hour early, and all of it is paid for.
func TestABlocksNodesGoBeforeItsEnd(t *testing.T) {
	job := capcli.Job{ID: "j", Submit: newYear, GPUs: 8, Run: 30 * 3600, Deadline: capcli.NoTime}
	for _, failures := range []string{"", ", failures: {mtbf: 3h, repair: 1h}"} {
		s, res := runOf(t, `capacity:
  - {kind: capacity_block, nodes: 2, gpus_per_node: 4, price: 3, from: 2027-01-01, until: 2027-01-01, ends_early: 1h`+failures+`}
`, job)
		inv, err := s.Invoice(res.Record, res.Ended, Options{})
		if err != nil {
			t.Fatal(err)
		}
		l := &inv.ByPool[0]
		if l.Cost != 8*24*3*capcli.Dollar || l.Time.Down < 8*3600*capcli.GPUSecond || l.Time.Used > 8*23*3600*capcli.GPUSecond || l.Time.Used == 0 {
			t.Errorf("failures %q: cost %s, %+v", failures, l.Cost, l.Time)
		}
		if failures == "" && l.Time.Down != 8*3600*capcli.GPUSecond {
			t.Errorf("down for %.1f GPU-hours, want 8", l.Time.Down.Hours())
		}
	}
}

// TestCommitmentsMeetPoolsByModel: a plan for one model leaves the other at its
// price, in whatever letters they are written, and a price that changes counts.
func TestCommitmentsMeetPoolsByModel(t *testing.T) {
	job := func(id, model string, hours capcli.Seconds) capcli.Job {
		return capcli.Job{ID: id, Submit: newYear, GPUs: 2, GPUModel: model, Run: hours * 3600, Deadline: capcli.NoTime}
	}
	s, res := runOf(t, `capacity:
  - {name: a, kind: on_demand, gpu_model: A100, price: 2}
  - {name: h, kind: on_demand, gpu_model: H100, price: 4, price_path: [{from: 2027-01-02, price: 3}]}
commitments:
  - {id: sp, product: savings_plan, from: 2026-06-01, term: 1y, commit: 3, rates: [{gpu_model: h100, discount: 25%}]}
`, job("x", "A100", 10), job("y", "H100", 48))
	inv, err := s.Invoice(res.Record, res.Ended, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// h: 24 h at $4, of which $3 cover one GPU of two; 24 h at $3, of which $3 at
	// $2.25 cover 1.333 and leave 0.667 at $3. The plan costs 96 x $3.
	if got, want := inv.ByPool[0].Cost, 40*capcli.Dollar; got != want {
		t.Errorf("a costs %s, want %s", got, want)
	}
	if got, want := inv.Standard(1), (24*4+24*2)*capcli.Dollar; got < want-100 || got > want+100 {
		t.Errorf("h costs %s beside the plan, want %s", got.Decimal(), want)
	}
	if got, want := inv.Commitments[0], 288*capcli.Dollar; got.Used+got.Unused != want || got.Used != 144*capcli.Dollar {
		t.Errorf("the plan is %+v, want half of %s used", got, want)
	}
	contracts, err := s.Contracts(res.Record, res.Ended, Options{})
	if err != nil || len(contracts) != 1 || contracts[0].UsedUp != 288*capcli.Dollar || contracts[0].Start != newYear-214*86400 {
		t.Errorf("contracts %+v (%v)", contracts, err)
	}
}

// TestOwnedByWhatItCostsToOwn: 28,000 over 35,040 h, 0.12 for power and 0.08 for
// space come to 0.999087 a GPU-hour.
func TestOwnedByWhatItCostsToOwn(t *testing.T) {
	s, res := runOf(t, `capacity:
  - {name: own, kind: owned, gpus: 8, term: 4y, machine: {capital: 30k, residual: 2k, watts: 1000, pue: 1.2, price_kwh: 0.10, space: 0.08}}
`, capcli.Job{ID: "j", Submit: newYear, GPUs: 4, Run: 3600, Deadline: capcli.NoTime})
	inv, err := s.Invoice(res.Record, res.Ended, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Capacity[0].Price.Rate; got != 999_087 {
		t.Errorf("a GPU-hour costs %s, want 0.999087", got.Decimal())
	}
	c, err := s.Contracts(res.Record, res.Ended, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// 240,000 and 96 h x 8 x 0.20 are paid; 8 x 28,000 x 96 / 35,040 and the same hours are used up.
	if got := c[0]; got.Paid != 240_153_600_000 || got.UsedUp != 767_298_630 || got.UsedUp-inv.Total.Cost > 400 || inv.Total.Cost-got.UsedUp > 400 {
		t.Errorf("contract %+v, invoice %s", got, inv.Total.Cost.Decimal())
	}
	for _, x := range []struct{ text, want string }{
		{"kind: owned, gpus: 8, machine: {capital: 3k}", "write term: 4y"},
		{"kind: owned, gpus: 8, term: 4y, price: 1, machine: {capital: 3k}", "leave one out"},
		{"kind: reserved, gpus: 8, term: 4y, machine: {capital: 3k}", "machine is for owned"},
		{"kind: owned, gpus: 8, term: 4y, machine: {capital: 3k, residual: 4k}", "worth more at the end"},
		{"kind: owned, gpus: 8, term: 4y, machine: {capital: 900M}", "not believed"},
	} {
		if _, err := Parse("s.yaml", []byte("capcli: scenario/v1\ncapacity: [{"+x.text+"}]\n")); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.text, err, x.want)
		}
	}
}

func TestCommitmentsOfAScenarioThatAreWrong(t *testing.T) {
	head := "capcli: scenario/v1\nperiod: 2027-01-01 to 2027-01-04\ncapacity: [{name: od, kind: on_demand, price: 4}, {kind: owned, gpus: 2, price: 1}]\ncommitments:\n- "
	for _, tt := range []struct{ name, text, want string }{
		{"scope", "{product: savings_plan, from: 2027-01-01, term: 1y, commit: 6, region: us, rates: [{discount: 25%}]}", "told apart by gpu_model"},
		{"scope of a rate", "{product: savings_plan, from: 2027-01-01, term: 1y, commit: 6, rates: [{region: us, discount: 25%}]}", "told apart by gpu_model"},
		{"pool's name", "{id: od, product: savings_plan, from: 2027-01-01, term: 1y, commit: 6, rates: [{discount: 25%}]}", "is the name of a pool too"},
		{"not yet", "{product: ri, from: 2028-01-01, term: 1y, gpus: 6, price: 2}", "begins on 2028-01-01T00:00:00Z, after the period"},
		{"currency", "{product: ri, from: 2027-01-01, term: 1y, gpus: 6, price: 2, currency: EUR}", "in EUR and the portfolio in USD"},
		{"overflow", "{product: ri, from: 2027-01-01, term: 9y, gpus: 6, upfront: 900B, hourly: 900B}", "overflow"},
		{"rates of no pool", "{product: savings_plan, from: 2027-01-01, term: 1y, commit: 6, rates: [{gpu_model: H100, discount: 25%}]}", "covers nothing"},
		{"no list", "[]", "want fields"},
	} {
		if _, err := Parse("s.yaml", []byte(head+tt.text+"\n")); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestDealsOfAScenario: a promise to spend and a plan that steps up, beside each
// other in the invoice of a run, to the millionth.
func TestDealsOfAScenario(t *testing.T) {
	job := func(id, model string, hours capcli.Seconds) capcli.Job {
		return capcli.Job{ID: id, Submit: newYear, GPUs: 2, GPUModel: model, Run: hours * 3600, Deadline: capcli.NoTime}
	}
	s, res := runOf(t, `capacity:
  - {name: a, kind: on_demand, gpu_model: A100, price: 2}
  - {name: h, kind: on_demand, gpu_model: H100, price: 4}
commitments:
  - {id: deal, product: minimum_spend, from: 2027-01-01, until: 2027-01-02, minimum: 500, rates: [{gpu_model: H100, rate: 3}]}
  - {id: plan, product: savings_plan, gpu_model: A100, from: 2027-01-01, until: 2027-01-02, commit: 1, rates: [{discount: 50%}], ramp: [{from: 2027-01-02, commit: 2}]}
`, job("1", "A100", 48), job("2", "H100", 48))
	inv, err := s.Invoice(res.Record, res.Ended, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// H100: 96 GPU-hours at $3 are 288 of the 500 promised. A100: 1 $ an hour covers one
	// of two GPUs on the first day, 2 $ both on the second: 24 + 48, and 24 x 2 beside it.
	if want := capcli.USD(500+24+48+48) * capcli.Dollar; inv.Total.Cost != want {
		t.Errorf("the run costs %s, want %s", inv.Total.Cost.Decimal(), want.Decimal())
	}
	var tenants capcli.USD
	for i := range inv.ByTenant {
		tenants += inv.ByTenant[i].Total
	}
	if tenants+inv.Unallocated != inv.Total.Cost {
		t.Errorf("tenants pay %s", tenants.Decimal())
	}
	if k := inv.Commitments[0]; len(inv.Commitments) != 3 || k.ID != "deal" || k.Used != 288*capcli.Dollar || k.Unused != 212*capcli.Dollar || k.Billed != 500*capcli.Dollar {
		t.Errorf("got %+v", inv.Commitments)
	}
	contracts, err := s.Contracts(res.Record, res.Ended, Options{})
	if err != nil || len(contracts) != 3 || contracts[0].Unexpired != 0 {
		t.Errorf("got %+v, %v", contracts, err)
	}
}
