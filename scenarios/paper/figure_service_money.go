package paper

import (
	"fmt"

	"capcli/scenarios/paper/figure"
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
	tokens, requests := figure.Series{Name: "A million tokens"}, figure.Series{Name: "1,000 requests"}
	rows := m.serviceRows("usd_per_mtok", "usd_per_1000_requests")
	dearest := 0
	for i, r := range rows {
		f.X.Names = append(f.X.Names, r.Name)
		tokens.Y, requests.Y = append(tokens.Y, r.Values[0]), append(requests.Y, r.Values[1])
		if requests.Y[i] > requests.Y[dearest] {
			dearest = i
		}
	}
	if len(rows) == 0 {
		return nil, ""
	}
	f.Series = []figure.Series{tokens, requests}
	text := fmt.Sprintf("with %s 1,000 requests cost %s and a million tokens %s", f.X.Names[dearest], usd(requests.Y[dearest]), usd(tokens.Y[dearest]))
	if len(rows) > 1 {
		text += fmt.Sprintf(", the most for requests of %d services", len(rows))
	}
	f.Sentence = sentence(text)
	f.Notes = []string{"the cost is that of what the replicas held, and their share of what nobody held; over tokens and requests that were answered, the mean over the runs"}
	return []figure.Figure{f}, ""
}
