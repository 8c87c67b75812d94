package billing

import (
	"errors"
	"fmt"

	"capcli"
	"capcli/simulate"
)

// PoolHours is what is billed of one on-demand or spot pool of a run by clock hour, before
// commitments: the use that they may cover.
type PoolHours struct {
	First capcli.Time // start of the clock hour of the first element
	GPUs  int64       // GPUs of a billing unit: those of a machine, or 1 where the pool is sold by the GPU

	// Billed is the billed GPU time of each hour: what jobs held, with minimum billing times and
	// whole machines. At each instant it is of a whole number of billing units, where the pool is
	// sold by the machine.
	Billed []capcli.GPUTime
	Spare  []capcli.GPUTime // part of Billed that rounding up to whole machines adds
}

// HoursOfPool returns what is billed of pool p of a run by clock hour. Bought nodes are billed
// whole, also where nobody holds them. It fails where the run did not keep its hours, and where
// the pool is not billed by use.
func HoursOfPool(rec *simulate.Record, p int) (*PoolHours, error) {
	pool := &rec.Pools[p]
	switch {
	case rec.Hourly == nil:
		return nil, errors.New("the run did not keep its use by hour")
	case pool.Terms.Committed():
		return nil, fmt.Errorf("pool %s is %s: it is paid for whether used or not", pool.Name, pool.Terms)
	}
	out := &PoolHours{First: rec.Hourly.First, GPUs: int64(max(1, pool.MachineGPUs))}
	if pool.Buy != nil {
		out.GPUs = int64(max(1, pool.GPUsPerNode))
		sumHours(&out.Billed, rec.UnusedByHour(p))
	}
	if p < len(rec.Hourly.Use) {
		for t := range rec.Hourly.Use[p] {
			use := &rec.Hourly.Use[p][t]
			sumHours(&out.Billed, use.Used, use.Rest, use.Spare)
			sumHours(&out.Spare, use.Spare)
		}
	}
	out.Billed = append(out.Billed, make([]capcli.GPUTime, rec.Hourly.Hours-min(rec.Hourly.Hours, len(out.Billed)))...)
	out.Spare = append(out.Spare, make([]capcli.GPUTime, len(out.Billed)-len(out.Spare))...)
	return out, nil
}

// sumHours adds lists by hour to sum, which grows to hold them.
func sumHours(sum *[]capcli.GPUTime, lists ...[]capcli.GPUTime) {
	for _, list := range lists {
		for len(*sum) < len(list) {
			*sum = append(*sum, 0)
		}
		for i, time := range list {
			(*sum)[i] += time
		}
	}
}

// addRounding adds what whole machines cost in the pools that the deal settled: the settled cost
// less that of the same run with each job billed for the share of a machine that it uses.
func (inv *Invoice) addRounding(rec *simulate.Record, d *Deal) error {
	exact := *rec.Hourly
	exact.Use = make([][]simulate.HourlyUse, len(rec.Hourly.Use))
	some := false
	for p, tenants := range rec.Hourly.Use {
		for _, use := range tenants {
			some = some || len(use.Spare) > 0 && !d.Pools[p].Skip
			use.Spare = nil
			exact.Use[p] = append(exact.Use[p], use)
		}
	}
	if !some {
		return nil
	}
	other := *rec
	other.Hourly = &exact
	h, err := ofRun(&other, d.Pools, rec.Start, max(d.To, rec.Start+1))
	if err != nil {
		return err
	}
	q, err := h.Quoter()
	if err != nil {
		return err
	}
	quote, err := q.Quote(&d.Portfolio)
	if err != nil {
		return err
	}
	inv.Rounding += inv.bill.Total.Effective - quote.Effective
	return nil
}
