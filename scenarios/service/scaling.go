package service

import (
	"go.yaml.in/yaml/v3"

	"capcli/scenarios/strict"
	"capcli/simulate/scale"
)

// Scaling says in which steps a service is looked at, and how its replicas follow its load.
type Scaling struct {
	Scaler *scale.Settings // nil keeps the replicas as they are
}

func (s *Spec) scalingFields() []strict.Field { return nil }

func (s *Spec) checkScaling(*strict.Object) {}

// readPolicy reads policy, which is the name of the batching policy or, as a map, the scaler.
func (s *Spec) readPolicy(d *strict.Decoder, n *yaml.Node) {
	strict.Choice(&s.Config.Policy, "policy", "chunked", "prefill_first")(d, n)
}
