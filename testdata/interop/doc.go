// Package interop holds capcli's Parquet files against an independent library,
// github.com/xitongsys/parquet-go v1.6.2, in both directions. It is a module of
// its own so that nothing of that library comes near the program.
//
// Keep parquet-go-source at the version named in go.mod, the one that
// parquet-go pins itself: later ones do not agree with current gRPC modules.
package interop
