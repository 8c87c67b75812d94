package billing_test

import (
	"fmt"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
)

// A month of 100 reserved GPUs of which 60 were held, priced twice.
func ExamplePrice() {
	const hours = 730 * 3600 * capcli.GPUSecond
	rec := &simulate.Record{
		Pools:   []simulate.Pool{{Name: "base", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: 100}},
		Tenants: []string{"research", "product"},
		Months: []simulate.Month{{
			Pools: []simulate.Span{{Offered: 100 * hours, Used: 60 * hours, Idle: 40 * hours}},
			Use:   [][]simulate.Use{{{Used: 45 * hours, Billed: 45 * hours}, {Used: 15 * hours, Billed: 15 * hours}}},
		}},
	}
	for _, price := range []capcli.Rate{2 * capcli.Dollar, 3 * capcli.Dollar} {
		inv, err := billing.Price(rec, []billing.Rate{{Price: price, OnDemand: 4 * capcli.Dollar}})
		if err != nil {
			fmt.Println(err)
			return
		}
		saved, _ := inv.Total.SavingsRate()
		fmt.Printf("%s, %s stranded, %s for research, saves %.1f %%\n", inv.Total.Cost, inv.Total.Stranded(), inv.ByTenant[0].Total, 100*saved)
	}
	// Output:
	// $146,000.00, $58,400.00 stranded, $109,500.00 for research, saves 16.7 %
	// $219,000.00, $87,600.00 stranded, $164,250.00 for research, saves -25.0 %
}
