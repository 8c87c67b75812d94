package scenarios

import (
	"go.yaml.in/yaml/v3"

	"capcli/scenarios/money/prices"
	"capcli/scenarios/strict"
)

// The shapes of the files that this package reads, by the version in their first line.
var shapes = map[string]func() strict.Shape{
	version: func() strict.Shape {
		return strict.Describe(&scenarioForm, keys{prices: prices.Catalogue()}, func(d *strict.Decoder, n *yaml.Node) {
			readScenario(d, n, &Scenario{opened: &opened{}})
		})
	},
	portfolioVersion: func() strict.Shape {
		return strict.Describe(&portfolioForm, nil, func(d *strict.Decoder, n *yaml.Node) { readPortfolio(d, n, &Portfolio{}) })
	},
	marketVersion: func() strict.Shape {
		return strict.Describe(&marketForm, nil, func(d *strict.Decoder, n *yaml.Node) { readMarket(d, n, &Market{}) })
	},
}

// Shape describes a file of the given version, such as scenario/v1; false where this package reads no such
// file.
func Shape(version string) (strict.Shape, bool) {
	describe, ok := shapes[version]
	if !ok {
		return strict.Shape{}, false
	}
	return describe(), true
}
