package play

import (
	"capcli/simulate"
	"capcli/simulate/outcome"
)

// serviceFigures returns the figures of the services of the run.
func (r *Run) serviceFigures(services []simulate.Service) []outcome.Service {
	if len(services) == 0 {
		return nil
	}
	out := make([]outcome.Service, len(services))
	costs := r.Invoice.ByPayers(r.Result.Record)
	for i := range services {
		run := &r.Result.Services[i]
		out[i] = outcome.ServiceOf(run, &services[i], r.Result.Record, r.Result.Ended)
		if r.Priced() && run.Payer > 0 {
			c := &costs[run.Payer-1]
			out[i].SetCost(c.Direct, c.Share)
		}
	}
	return out
}
