package forecast

import "capcli/forecast/model"

func init() {
	Models.Add("drift", "the last value and the mean change: a random walk with drift",
		func(Options) model.Model { return walk{name: "drift", lag: 1, drift: true} })
}
