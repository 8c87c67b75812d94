package billing_test

import (
	"fmt"
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
)

// month is a month of jobs on GPUs of three models: some thousand, of 5 min to
// 3 days, by eight tenants.
func month(t testing.TB) *billing.Hours {
	t.Helper()
	const length = 30 * 24 * hours
	rec := &billing.UseRecord{From: day0, To: day0 + length}
	r := capcli.Seed(7).Stream("jobs")
	models := []string{"A100", "H100", "H200"}
	for i := range 6000 {
		start := capcli.Time(r.Uint64() % uint64(length-hours))
		seconds := 300 + capcli.Seconds(r.Uint64()%(3*86400))
		seconds = min(seconds, capcli.Seconds(length-start))
		m := int(r.Uint64() % 3)
		rec.Lines = append(rec.Lines, billing.UseLine{
			Start: day0 + start, Seconds: seconds, Units: 1000 << (r.Uint64() % 4),
			SKU: billing.SKU{Provider: "aws", GPUModel: models[m]}, Price: capcli.Rate(1_000_000 * (m + 2)),
			Tenant: fmt.Sprint("tenant", i%8),
		})
	}
	h, err := rec.Hours(false)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// portfolioOf is the n-th of many portfolios: reserved GPUs of each model and
// two savings plans.
func portfolioOf(p *billing.Portfolio, n int) {
	p.Commitments = p.Commitments[:0]
	for m, model := range []string{"A100", "H100", "H200"} {
		units := int64(1 + (n*(m+3))%97)
		p.Commitments = append(p.Commitments, billing.Commitment{
			ID: model, Start: day0, End: day0 + 365*24*hours, Scope: billing.Scope{GPUModel: model},
			Fees: billing.Fees{Hourly: capcli.Rate(units * int64(1_200_000*(m+1)))}, Product: billing.ReservedInstance{Units: billing.Units(1000 * units)},
		})
	}
	for k, off := range []int64{280_000, 450_000} {
		commit := capcli.Rate(1+(n*(k+5))%211) * capcli.Dollar
		p.Commitments = append(p.Commitments, billing.Commitment{
			ID: []string{"plan1", "plan3"}[k], Start: day0, End: day0 + capcli.Time(1+2*k)*365*24*hours, Fees: billing.Fees{Hourly: commit},
			Product: billing.SavingsPlan{Commit: commit, Rates: []billing.PlanRate{{Discount: off}}},
		})
	}
}

// BenchmarkTenThousandPortfolios prices one month of thousands of jobs under
// 10,000 portfolios of five commitments each.
func BenchmarkTenThousandPortfolios(b *testing.B) {
	q, err := month(b).Quoter()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var p billing.Portfolio
	for b.Loop() {
		for n := range 10_000 {
			portfolioOf(&p, n)
			if _, err := q.Quote(&p); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkBill writes the bill of that month.
func BenchmarkBill(b *testing.B) {
	h := month(b)
	var p billing.Portfolio
	portfolioOf(&p, 1)
	for b.Loop() {
		if _, err := h.Bill(&p, billing.ByDay); err != nil {
			b.Fatal(err)
		}
	}
}
