package profile

import (
	"context"
	"io"
	"os"

	"capcli/cmd/shell"
	"capcli/profile"
	"capcli/profile/readings"
)

// addReadings adds to a source what programs say of themselves at the places of --readings.
func (o *profileOptions) addReadings(ctx context.Context, e *shell.Env, src profile.Source) (profile.Source, error) {
	if len(o.readings) == 0 {
		return src, nil
	}
	if profile.Recorded(src) {
		return nil, &shell.UsageError{Text: "--readings is for GPUs that are sampled now: a recording has what was read then"}
	}
	fetch := map[string]func(context.Context, string) (io.ReadCloser, error){}
	var places []readings.Place
	for _, text := range o.readings {
		p, err := readings.ParsePlace(text)
		if err != nil {
			return nil, err
		}
		shown, u, err := e.WhereFlag(p.Name)
		if err != nil {
			return nil, err
		}
		if u != nil {
			fetch[shown], p.Name = e.Fetcher(ctx, shown, u), shown
		}
		places = append(places, p)
	}
	return readings.NewWatch(src, readings.Options{
		Places: places, Disk: readings.Disk{Open: e.Disk.Open, Stat: e.Disk.Stat, Same: os.SameFile}, Note: e.Note,
		Fetch: func(ctx context.Context, address string) (io.ReadCloser, error) { return fetch[address](ctx, address) },
	}), nil
}
