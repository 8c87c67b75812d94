package scenarios

import (
	"reflect"
	"strings"
	"testing"

	"capcli/scenarios/money/billing"
)

const portfolioHead = "capcli: portfolio/v1\ncommitments:\n"

func TestParsePortfolio(t *testing.T) {
	p, err := ParsePortfolio("p.yaml", []byte(portfolioHead+`  - {product: ri, from: 2027-01-01, term: 1y, units: 2, instance_type: p5.48xlarge, region: us-east-1, price: 39.5, payment: partial, owner: a1}
  - {product: ri, from: 2028-01-01, until: 2028-06-30, units: 0.5, family: m5, size: large, upfront: 1.2k, hourly: 0.05, monthly: 3}
  - {id: sp, product: savings_plan, from: 2027-01-31, term: 1mo, commit: 12.5, payment: all, rates: [{instance_type: m5.large, rate: 0.061}, {discount: 28%}]}
  - {product: cud, from: 2027-01-01, term: 3y, gpus: 8, gpu_model: H100, region: us-central1, reservation: r1, price: 4.86}
  - {product: capacity_block, from: 2027-03-01, term: 7d, gpus: 64, price: 4}
  - {product: capacity_block, from: 2027-03-01, term: 9d, gpus: 64, price: 4, rule: calendar}
  - {product: odcr, from: 2027-01-01, until: 2027-01-31, units: 4, family: p5, price: 98.32, committed: 14d, wind_down: 100}
  - {product: owned, from: 2027-01-01, term: 5y, units: 3, machine: {capital: 250k, residual: 40k, watts: 10200, pue: 1.25, price_kwh: 0.1, space: 0.5}}
  - {product: azure_reservation, from: 2027-01-01, term: 1y, units: 1, price: 2, escape: {leave: 2027-04-01, every: 90d, fee: 10, limit: 50k}}
  - {product: azure_reservation, from: 2027-01-01, term: 1y, units: 1, price: 2, instance_type: X1, sizes: [{size: X1, ratio: 1}, {size: X2, ratio: 2}], size_flexibility: false}
`))
	if err != nil {
		t.Fatal(err)
	}
	c := p.Portfolio.Commitments
	tests := []struct {
		id, start, end string
		fees           billing.Fees
		product        billing.Product
	}{
		// 79 $/h for 8760 h, half of it at the start.
		{"reserved_instance", "2027-01-01", "2028-01-01", billing.Fees{Upfront: 346_020e6, Hourly: 39_500_000}, billing.ReservedInstance{Units: 2000}},
		{"reserved_instance2", "2028-01-01", "2028-07-01", billing.Fees{Upfront: 1200e6, Hourly: 50_000, Monthly: 3e6}, billing.ReservedInstance{Units: 500}},
		{"sp", "2027-01-31", "2027-02-28", billing.Fees{Upfront: 28 * 24 * 12_500_000}, nil},
		{"committed_use", "2027-01-01", "2030-01-01", billing.Fees{Hourly: 38_880_000}, billing.CommittedUse{Units: 8000, Reservation: "r1"}},
		{"capacity_block", "2027-03-01", "2027-03-08", billing.Fees{Upfront: 7 * 24 * 256e6}, billing.CapacityBlock{Units: 64_000, EndsEarly: 1800}},
		{"capacity_block2", "2027-03-01", "2027-03-10", billing.Fees{Upfront: 9 * 24 * 256e6}, billing.CapacityBlock{Units: 64_000, Rule: billing.BlockCalendar}},
		{"capacity_reservation", "2027-01-01", "2027-02-01", billing.Fees{}, billing.CapacityReservation{Units: 4000, Price: 98_320_000, Committed: 14 * 86400, WindDown: 100e6}},
		// 10.2 kW x 1.25 x $0.1 = $1.275 and $0.5 an hour, times three.
		{"owned", "2027-01-01", "2032-01-01", billing.Fees{Upfront: 750_000e6, Residual: 120_000e6, Hourly: 5_325_000}, billing.Owned{Units: 3000}},
		// $17,520 for the year, of which $13,200 is unexpired after 90 days and comes back but for the fee.
		{"azure_reservation", "2027-01-01", "2027-04-01", billing.Fees{Upfront: 4_330e6}, billing.AzureReservation{Units: 1000}},
		{"azure_reservation2", "2027-01-01", "2028-01-01", billing.Fees{Hourly: 2e6}, billing.AzureReservation{Units: 1000, Sizes: []billing.SizeRatio{{Size: "X1", Ratio: 1}, {Size: "X2", Ratio: 2}}, Rigid: true}},
	}
	if len(c) != len(tests) {
		t.Fatalf("got %d commitments", len(c))
	}
	for i, tt := range tests {
		day := func(s string) string { return s[:10] }
		if c[i].ID != tt.id || day(c[i].Start.String()) != tt.start || day(c[i].End.String()) != tt.end || c[i].Fees != tt.fees {
			t.Errorf("got %s, %s to %s, %+v\nwant %+v", c[i].ID, c[i].Start, c[i].End, c[i].Fees, tt)
		}
		if tt.product != nil && !reflect.DeepEqual(c[i].Product, tt.product) {
			t.Errorf("%s: got %+v, want %+v", tt.id, c[i].Product, tt.product)
		}
	}
	if l := p.Left; len(l) != 1 || l[0].ID != "azure_reservation" || l[0].Refund.Amount != 13_190e6 || l[0].Refund.At.String()[:10] != "2027-04-01" || l[0].End.String()[:10] != "2028-01-01" {
		t.Errorf("left early: got %+v", l)
	}
	if s := c[0].Scope; s.Family != "p5" || s.Size != "48xlarge" || s.Region != "us-east-1" || c[0].Owner != "a1" {
		t.Errorf("scope: got %+v", s)
	}
	if r := c[2].Product.(billing.SavingsPlan).Rates; r[0].Rate != 61_000 || r[1].Discount != 280_000 || r[0].Scope.Size != "large" {
		t.Errorf("rates: got %+v", r)
	}
}

func TestParsePortfolioFaults(t *testing.T) {
	const ok = "{product: ri, from: 2027-01-01, term: 1y, units: 2, family: p5, size: 48xlarge, price: 39.5}"
	tests := []struct{ name, text, want string }{
		{"unknown field", "{product: ri, form: 2027-01-01, from: 2027-01-01, term: 1y, units: 1, price: 1}", `p.yaml:3:19  unknown field "form"; did you mean "from"?`},
		{"an escape without a day", strings.Replace(ok, "price: 39.5", "price: 39.5, escape: {every: 90d}", 1), "leave is missing: an escape that is not used changes no bill"},
		{"an escape on another day", strings.Replace(ok, "price: 39.5", "price: 39.5, escape: {every: 90d, leave: 2027-04-02}", 1), "the next such date is 2027-06-30"},
		{"an escape over its limit", strings.Replace(ok, "price: 39.5", "price: 39.5, escape: {every: 90d, leave: 2027-04-01, limit: 100}", 1), "the limit is $100.00"},
		{"unknown product", strings.Replace(ok, "ri,", "savings_plans,", 1), `p.yaml:3:15  unknown product "savings_plans"`},
		{"no end", strings.Replace(ok, "term: 1y, ", "", 1), "term is missing"},
		{"two ends", strings.Replace(ok, "term: 1y", "term: 1y, until: 2027-02-01", 1), "term and until both say"},
		{"backwards", strings.Replace(ok, "term: 1y", "until: 2026-02-01", 1), "the term ends 2026-02-02"},
		{"other product's field", strings.Replace(ok, "units", "commit: 3, units", 1), "commit is no field of reserved_instance; it has units"},
		{"no price", strings.Replace(ok, ", price: 39.5", "", 1), "price is missing"},
		{"price twice", strings.Replace(ok, "price: 39.5", "price: 39.5, upfront: 3", 1), "give one of the three"},
		{"free", strings.Replace(ok, "39.5", "0", 1), "price is 0"},
		{"units", strings.Replace(ok, "units: 2", "units: 0.0001", 1), "want a number of units"},
		{"gpus need a reservation", "{product: cud, from: 2027-01-01, term: 1y, gpus: 8, gpu_model: H100, price: 4}", "comes with a reservation"},
		{"block of 17 days", "{product: capacity_block, from: 2027-01-01, term: 17d, gpus: 8, price: 4}", "whole weeks"},
		{"plan without rates", "{product: savings_plan, from: 2027-01-01, term: 1y, commit: 1}", "rates is missing"},
		{"currency", strings.Replace(ok, "price", "currency: EUR, price", 1), "in EUR and the portfolio in USD"},
		{"no map", "3", "want fields such as id"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParsePortfolio("p.yaml", []byte(portfolioHead+"  - "+tt.text+"\n"))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v\nwant … %s", err, tt.want)
			}
		})
	}
	two := strings.Replace(ok, "product", "id: x, product", 1)
	_, err := ParsePortfolio("p.yaml", []byte(portfolioHead+"  - "+two+"\n  - "+two+"\n"))
	if err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("two of one id: got %v", err)
	}
}

func FuzzParsePortfolio(f *testing.F) {
	f.Add([]byte(portfolioHead + "  - {product: ri, from: 2027-01-01, term: 1y, units: 2, family: p5, price: 39.5}\n"))
	f.Add([]byte(portfolioHead + "  - {product: sp, from: 2027-01-01, until: 2027-02-01, commit: 2, rates: [{discount: 28%}]}\nspot_prices: [{at: 2027-01-01, price: 3}]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParsePortfolio("p.yaml", b)
		if err != nil {
			_ = err.Error()
			return
		}
		if err := p.Portfolio.Check(); err != nil {
			t.Fatalf("a portfolio that was read does not hold: %v", err)
		}
	})
}
