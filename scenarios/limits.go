package scenarios

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/outcome"
	"capcli/scenarios/strict"
)

// limits reads bounds by metric. A bound without a sign is an upper bound, or a lower
// bound where more is better.
func limits(dst *[]outcome.Check) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if d.AcceptsMap(n, limitNames(), func(d *strict.Decoder, n *yaml.Node) { d.ReadScalar(n, "a bound such as 30m, $1.7M or 93%") }) {
			return
		}
		if n.Kind != yaml.MappingNode {
			d.FaultWant(n, "bounds such as {wait_p95: 30m}")
			return
		}
		taken := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if d.DecimalComma(n, i) {
				continue
			}
			d.Enter(key.Value)
			c, at, err := limit(key, value)
			switch {
			case err != nil:
				d.Fault(at, "%s", err)
			case taken[c.Metric.Name+c.Op]:
				d.Fault(key, "%s is bounded twice", c.Metric.Name)
			default:
				*dst = append(*dst, c)
				taken[c.Metric.Name+c.Op] = true
			}
			d.Leave()
		}
	}
}

// limitNames returns the regular expression of the names of bounds, which are those of metrics.
func limitNames() string {
	names := capcli.Map(outcome.Metrics, func(m *outcome.Metric) string { return regexp.QuoteMeta(m.Name) })
	return "^(.+[.])?(" + strings.Join(names, "|") + ")(_s|_usd)?$" // see outcome.FindMetric
}

// limit reads one bound. The node it returns is the place of an error.
func limit(key, value *yaml.Node) (outcome.Check, *yaml.Node, error) {
	m, err := outcome.FindMetric(key.Value)
	if err != nil {
		return outcome.Check{}, key, err
	}
	if value.Kind != yaml.ScalarNode || value.Tag == "!!null" {
		return outcome.Check{}, value, fmt.Errorf("%s: want a bound such as 30m, $1.7M or 93%%", m.Name)
	}
	c, err := m.ParseLimit(key.Value, value.Value)
	return c, value, err
}
