package profile

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"capcli/cmd/files"
	"capcli/cmd/shell"
	"capcli/profile"
	"capcli/profile/web"
)

// serve listens at --metrics-listen. stop closes the server.
func (r *recording) serve(ctx context.Context) (stop func(), err error) {
	if r.o.listen == "" {
		return func() {}, nil
	}
	l, err := shell.Listen(ctx, "metrics-listen", r.o.listen)
	if err != nil {
		return nil, err
	}
	r.seen = profile.NewExporter(r.host)
	if !r.played {
		r.seen.More, r.seen.IsUp = r.health.Families, r.health.IsUp
	}
	r.seen.Free = func() (uint64, error) {
		free, _, err := files.Room(r.o.out)
		return free, err
	}
	server := web.MetricsServer(r.seen.Page)
	go func() {
		if err := server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			r.e.Note(fmt.Sprintf("metrics are no longer served: %v", err))
		}
	}()
	r.e.Note(fmt.Sprintf("metrics at http://%s/metrics", l.Addr()))
	return func() { _ = server.Close() }, nil
}
