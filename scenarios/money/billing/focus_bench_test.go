package billing

import (
	"fmt"
	"strings"
	"testing"

	"capcli/scenarios/money/focus"
)

// bigBill is a bill of n rows as a provider writes them.
func bigBill(n int) string {
	var b strings.Builder
	b.WriteString("BillingAccountId,BillingCurrency,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,PricingCategory,ServiceName,SkuId,ConsumedQuantity,ConsumedUnit,BilledCost,EffectiveCost,ListCost,ListUnitPrice,CommitmentDiscountId,CommitmentDiscountStatus,Tags\n")
	for i := range n {
		fmt.Fprintf(&b, "acc,USD,2027-01-%02dT%02d:00:00Z,2027-01-%02dT%02d:30:00Z,Usage,Standard,EC2,p5.48xlarge,1,Hours,98.3200000001,98.3200000001,98.32,98.32,,,\"{\"\"team\"\":\"\"t%d\"\"}\"\n",
			1+i/24%28, i%24, 1+i/24%28, i%24, i%50)
	}
	return b.String()
}

// BenchmarkFOCUSCheck is what reading and summing a bill costs.
func BenchmarkFOCUSCheck(b *testing.B) {
	text := bigBill(20_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := focus.NewReader("bill.csv", strings.NewReader(text), focus.Options{})
		if err != nil {
			b.Fatal(err)
		}
		c := focus.NewCheck()
		for row, err := range r.Rows() {
			if err != nil || c.Add(row) != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)*20_000/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkReadUse is what reading a bill as use costs.
func BenchmarkReadUse(b *testing.B) {
	text := bigBill(20_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := ReadUse("bill.csv", strings.NewReader(text), UseOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*20_000/b.Elapsed().Seconds(), "rows/s")
}
