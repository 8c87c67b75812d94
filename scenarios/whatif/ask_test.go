package whatif

import (
	"context"

	"capcli/scenarios/play"
)

// Ask plays the case of q with the changes of r, once. It fails with *capcli.RequestError, with
// *strict.Faults for a value that the scenario does not take, and as play.Play does.
func Ask(ctx context.Context, maker *play.Maker, q play.Question, r Request) (*Answer, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	r.Apply(&q)
	c, err := maker.Case(ctx, &q)
	if err != nil {
		return nil, err
	}
	return r.Answer(ctx, c)
}
