package sizing

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/money/prices"
	"capcli/simulate/serving/service"
)

// Vary asks for a choice of each GPU model, width and precision of the weights.
type Vary struct {
	GPUModels []string // H100, or with the price of a GPU-hour H100=2.50 or H100=KEY; empty keeps the service's
	Tensor    []int    // GPUs that share a copy of the model
	Weights   []string // bf16, fp8, …
	Price     string   // of a GPU-hour, an amount or a key, of models without one; "" is that of the service
	Prices    *prices.List
}

// mostChoices is the most choices of one plan.
const mostChoices = 200

// Choices returns the choices of a service, and notes on prices that were given by key. A choice that
// cannot run has a Fault. The error is a *capcli.RequestError.
func (v *Vary) Choices(s *service.Spec) ([]Choice, []string, error) {
	keys := &market.Keys{Prices: v.Prices}
	var out []Choice
	for _, gpu := range orNone(v.GPUModels) {
		model, price, _ := strings.Cut(gpu, "=")
		rate := capcli.USDOf(s.Config.Price)
		if text := cmp.Or(price, v.Price); text != "" {
			var err error
			if rate, err = keys.Rate("price", text); err != nil {
				return nil, nil, err
			}
		}
		for _, tensor := range orNone(v.Tensor) {
			for _, weights := range orNone(v.Weights) {
				if len(out) == mostChoices {
					return nil, nil, &capcli.RequestError{Text: fmt.Sprintf("plan service tries at most %d choices: give fewer GPU models, widths or weights", mostChoices)}
				}
				out = append(out, v.choose(s, model, tensor, weights, rate))
			}
		}
	}
	if len(out) == 1 && out[0].err != nil && len(v.GPUModels)+len(v.Tensor)+len(v.Weights) == 0 {
		return nil, nil, out[0].err // the service as it is cannot run
	}
	return out, keys.Notes(), nil
}

// orNone returns a list, or a list of one zero value where it is empty.
func orNone[T any](list []T) []T {
	if len(list) == 0 {
		return make([]T, 1)
	}
	return list
}

// choose returns one choice. What the service states for its own GPU (time, blocks, GPUs) does not hold
// for another: it follows from the model.
func (v *Vary) choose(s *service.Spec, model string, tensor int, weights string, rate capcli.Rate) Choice {
	c := Choice{GPUModel: model, Tensor: tensor, Weights: weights, Rate: rate}
	own := s
	if model != "" || tensor > 0 || weights != "" {
		changes := []service.Change{{Field: "time"}, {Field: "blocks"}, {Field: "gpus"}, {Field: "model_key"}}
		for _, f := range []service.Change{{Field: "gpu_model", Value: model}, {Field: "tensor_parallel", Value: widthText(tensor)}, {Field: "weights", Value: weights}} {
			if f.Value != "" {
				changes = append(changes, f)
			}
		}
		var err error
		if own, err = s.With(changes...); err != nil {
			c.Fault, c.err = err.Error(), err
			return c
		}
	}
	own.SetReplicas(1)
	config, err := own.Servable()
	if err != nil {
		c.Fault, c.err = err.Error(), err
		return c
	}
	c.Config = *config
	return c
}

func widthText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
