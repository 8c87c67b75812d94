package paper

import (
	"fmt"

	"capcli/scenarios/figure"
)

// What a million tokens and a thousand requests of the services of played plans cost.
func init() {
	register(Drawing{ID: "service-unit-costs", Rank: 121, Needs: "a priced run with services whose tokens are known", Only: playsServices, Draw: drawServiceMoney})
}

func drawServiceMoney(m *material) ([]figure.Figure, string) {
	f := figure.Figure{
		ID: "service-unit-costs", Title: "Cost of tokens and of requests", Kind: figure.Bars,
		X: figure.Axis{Label: "Service", Unit: figure.Name}, Y: figure.Axis{Label: "Cost", Unit: figure.USD},
	}
	dearest := m.fillServices(&f, "usd_per_mtok", "A million tokens", "usd_per_1000_requests", "1,000 requests")
	if dearest < 0 {
		return nil, ""
	}
	text := fmt.Sprintf("with %s 1,000 requests cost %s and a million tokens %s", f.X.Names[dearest], usd(f.Series[1].Y[dearest]), usd(f.Series[0].Y[dearest]))
	if n := len(f.X.Names); n > 1 {
		text += fmt.Sprintf(", the most for requests of %d services", n)
	}
	f.Sentence = sentence(text)
	f.Notes = []string{"the cost is that of what the replicas held, and their share of what nobody held; over tokens and requests that were answered, the mean over the runs"}
	return []figure.Figure{f}, ""
}
