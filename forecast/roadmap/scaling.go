package roadmap

import "math"

// The parametric loss of a language model with n parameters that has seen d tokens,
// L = E + A/n^α + B/d^β (Hoffmann et al. 2022, "Training compute-optimal large language models"), with
// the constants of the replication by Besiroglu et al. 2024, "Chinchilla scaling: a replication attempt",
// which corrects those of the paper's third approach.
const (
	lossFloor      = 1.8172
	lossParameters = 482.01
	lossTokens     = 2085.43
	lossAlpha      = 0.3478
	lossBeta       = 0.3658
)

// Loss returns the loss that the scaling law expects, in nats a token. It is a law of one family of models
// and one mix of data: differences between sizes are worth more than its value.
func Loss(parameters, tokens float64) float64 {
	return lossFloor + lossParameters/math.Pow(parameters, lossAlpha) + lossTokens/math.Pow(tokens, lossBeta)
}

// ComputeOptimal returns the size and the tokens that reach the least loss with so many operations, by the
// closed form of the paper: n = G (C/6)^a with a = β/(α+β) and G = (αA/βB)^(1/(α+β)), and d = C / 6n.
func ComputeOptimal(flops float64) (parameters, tokens float64) {
	g := math.Pow(lossAlpha*lossParameters/(lossBeta*lossTokens), 1/(lossAlpha+lossBeta))
	parameters = g * math.Pow(flops/6, lossBeta/(lossAlpha+lossBeta))
	return parameters, flops / 6 / parameters
}
