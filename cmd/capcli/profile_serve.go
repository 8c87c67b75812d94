package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"capcli/profile"
	"capcli/profile/web"
)

// listen listens at the address of a flag. An address without a host is bound to 127.0.0.1.
func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &usageError{text: fmt.Sprintf("--%s wants an address such as 127.0.0.1:9835, found %q", flag, address)}
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
	if err != nil {
		return nil, fmt.Errorf("cannot listen at %s: %w", address, err)
	}
	return l, nil
}

// serve listens at --metrics-listen. stop closes the server.
func (r *recording) serve(ctx context.Context) (stop func(), err error) {
	if r.o.listen == "" {
		return func() {}, nil
	}
	l, err := listen(ctx, "metrics-listen", r.o.listen)
	if err != nil {
		return nil, err
	}
	r.seen = profile.NewExporter(r.host)
	if !r.played {
		r.seen.More, r.seen.IsUp = r.health.Families, r.health.IsUp
	}
	r.seen.Free = func() (uint64, error) {
		free, _, err := diskRoom(r.o.out)
		return free, err
	}
	server := web.MetricsServer(r.seen.Page)
	go func() {
		if err := server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			r.e.note(fmt.Sprintf("metrics are no longer served: %v", err))
		}
	}()
	r.e.note(fmt.Sprintf("metrics at http://%s/metrics", l.Addr()))
	return func() { _ = server.Close() }, nil
}
