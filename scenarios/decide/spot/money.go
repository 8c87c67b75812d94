package spot

import (
	"math/big"

	"capcli"
)

// secondsOfHour is the unit of the prices.
const secondsOfHour = 3600

// sumCost returns the cost of so many nodes for some time on spot and some on demand, rounded to the
// millionth of a dollar once, at the end, halves up.
func sumCost(nodes int, spot capcli.Rate, onSpot capcli.Seconds, demand capcli.Rate, onDemand capcli.Seconds) capcli.USD {
	part := func(r capcli.Rate, t capcli.Seconds) *big.Int {
		return new(big.Int).Mul(big.NewInt(int64(r)), big.NewInt(int64(t)))
	}
	sum := new(big.Int).Add(part(spot, onSpot), part(demand, onDemand))
	sum.Mul(sum, big.NewInt(int64(nodes)))
	sum.Add(sum, big.NewInt(secondsOfHour/2))
	return capcli.USD(sum.Div(sum, big.NewInt(secondsOfHour)).Int64())
}
