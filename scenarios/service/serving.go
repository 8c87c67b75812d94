package service

import (
	"capcli/scenarios/strict"
	"capcli/simulate/serving"
)

// Serving says how a service answers requests.
type Serving struct {
	Config serving.Config
}

func (s *Spec) servingFields() []strict.Field {
	return []strict.Field{
		{"policy", "chunked or prefill_first", s.readPolicy},
	}
}

func (s *Spec) checkServing(*strict.Object) {}
