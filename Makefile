GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOFUMPT  := mvdan.cc/gofumpt@v0.12.0
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
FUZZTIME ?= 10s

.PHONY: help build check fmt lint test race fuzz bench golden golden-check accuracy speed-r cross

## help: this list
help: ; @sed -n 's/^## //p' Makefile
## build: the program, in bin/capcli
build: ; CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/capcli ./cmd/capcli
## check: all that must hold before a commit
check: fmt lint race
## fmt: format
fmt: ; go run $(GOFUMPT) -w .
## lint: vet, staticcheck and house rules
lint: ; go vet ./... && go run $(GOLANGCI) run ./...
## test: fast tests
test: ; go test ./...
## race: tests under the race detector (needs a C compiler)
race: ; CGO_ENABLED=1 go test -race -short ./...
## fuzz: FUZZTIME on each parser, ten seconds by default
fuzz: ; FUZZTIME=$(FUZZTIME) .ci/fuzz
## bench: speed of the engine and the readers, for benchstat
bench: ; go test ./... -run '^$$' -bench . -benchmem -count 5
## golden: rewrite expected outputs; read the diff before committing it
golden: ; go test ./cmd/... -update
## golden-check: every start against the reference simulators (needs ../shared)
golden-check: ; .ci/golden
## accuracy: every forecasting model on the M competitions and on GPU demand (needs ../shared)
accuracy: ; CAPCLI_ACCURACY=1 go test ./forecast -run TestAccuracy -v -timeout 10h
## speed-r: the time of models against R's forecast package, in one run (needs Rscript, ../shared)
speed-r: ; CAPCLI_SPEED_R=1 go test ./forecast -run 'TestSpeedVsR$$' -v -timeout 3h
## cross: does it build for the other systems
cross: ; .ci/cross
