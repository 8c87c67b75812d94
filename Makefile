GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOFUMPT  := mvdan.cc/gofumpt@v0.12.0
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
FUZZTIME ?= 10s
# Tests of the commands that run goroutines of their own; the others ask the library once.
CONCURRENT ?= Stop|Kill|Half|Shard|Worlds|Pipe|Progress|Record|TestScript/(plan-mix|plan-shards|plan-futures|profile-feed|forecast$$|simulate$$|first-hour)

.PHONY: help build engine check fmt lint test race fuzz bench golden golden-check accuracy speed-r full nightly long soak gpu-check slurm-check kubernetes-check objects-check browser-check prometheus-check grafana-check openapi-check packaged-check cross dist module

## help: this list
help: ; @sed -n 's/^## //p' Makefile
## build: the program with the engine of pages, in bin/capcli; on Linux with a C compiler it reads GPUs by NVIDIA's library
build: engine ; go build -tags engine -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/capcli ./cmd/capcli
## engine: the engine that a page of report --live carries, as WebAssembly
engine: ; go run ./cmd/wasm/pack cmd/panel/engine
## check: all that must hold before a commit
check: fmt lint race
## fmt: format
fmt: ; go run $(GOFUMPT) -w .
## lint: vet, staticcheck and house rules
# vet reads the Go files of a package with C where they were compiled, which with -trimpath may be another folder.
lint: ; go vet $$(go list ./... | grep -v nvml/driver) && GOFLAGS= go vet ./profile/nvml/driver && CGO_ENABLED=0 go vet ./profile/nvml ./cmd/capcli && go run $(GOLANGCI) run ./...
## test: fast tests, which take a part of the cases of long ones
test: ; go test ./...
## race: tests under the race detector (needs a C compiler), of what runs goroutines of its own; RACE_SKIP leaves packages out
race:
	CGO_ENABLED=1 go test -race -short $$(grep -rlE --include='*.go' '(Map|Each)Parallel\(|^\s*go (func|[a-zA-Z_.]+\()' . | grep -v /testdata/ | xargs -n1 dirname | sort -u | grep -vE '^\./(forecast|cmd/capcli|$(RACE_SKIP))$$')
	CGO_ENABLED=1 go test -race -short -run 'Backtest|Thief|Wrappers' ./forecast
	CGO_ENABLED=1 go test -race -short -run '$(CONCURRENT)' ./cmd/capcli
## fuzz: FUZZTIME on each parser, ten seconds by default
fuzz: ; FUZZTIME=$(FUZZTIME) .ci/fuzz
## bench: speed of the engine and the readers, for benchstat
bench: ; go test ./... -run '^$$' -bench . -benchmem -count 5
## golden: rewrite expected outputs; read the diff before committing it
golden: ; go test ./cmd/... -update
## golden-check: every start against the reference simulators (needs ../shared)
golden-check: ; .ci/golden
## accuracy: every forecasting model on the M competitions and on GPU demand (needs ../shared)
accuracy: ; CAPCLI_ACCURACY=1 go test ./forecast -run 'TestAccuracy|TestDemandAccuracy|TestDailyAccuracy|TestNeverExplodes' -v -timeout 10h
## speed-r: the time of models against R's forecast package, in one run (needs Rscript, ../shared)
speed-r: ; CAPCLI_SPEED_R=1 go test ./forecast -run 'TestSpeedVsR$$' -v -timeout 3h
## full: all tests with all their cases, as .ci/run has them
full: ; CAPCLI_FULL=1 go test -timeout 30m ./...
## nightly: what takes hours: long draws, soak, all packages under the race detector, 200,000 tries of each fuzz target
nightly: long soak
	$(MAKE) race RACE_SKIP=none
	FUZZTIME=200000x .ci/fuzz
## long: each test that draws more with CAPCLI_LONG=1, in LONG, and the default search against 16 exhaustive ones
LONG ?= $$(grep -rlE --include='*_test.go' 'CAPCLI_LONG' . | grep -v /testdata/ | xargs -n1 dirname | sort -u)
WORLDS ?= 16
long:
	CAPCLI_LONG=1 go test -count 1 -timeout 6h $(LONG)
	CAPCLI_FULL=1 CAPCLI_WORLDS=$(WORLDS) go test ./cmd/capcli -run TestDefaultSearchAgainstExhaustive -count 1 -timeout 6h
## soak: kill the writer of profiles KILLS times, a thousand by default; a day of ticks of eight GPUs and of looks at a box
KILLS ?= 1000
DAY ?= 1
soak:
	CAPCLI_FULL=1 CAPCLI_KILLS=$(KILLS) go test ./profile/store -run 'TestKilled$$' -v -count 1 -timeout 1h
	CAPCLI_DAY=$(DAY) CGO_ENABLED=1 go test ./profile/nvml -run 'TestFakeDayOfTicks$$' -v -count 1
	CAPCLI_DAY=$(DAY) go test ./profile/box -run 'Day' -v -count 1
## gpu-check: loads of its own on a GPU, and every figure held against them and against nvidia-smi, in six minutes (Linux, a GPU, a C compiler)
gpu-check: ; CAPCLI_GPU=1 CGO_ENABLED=1 go test ./profile/nvml -run 'TestGPU$$' -count 1 -v -timeout 15m
## slurm-check: a plan as an array of a real Slurm, brought up from Debian's packages and taken away again (Debian, root)
slurm-check: ; SLURM_CHECK=required .ci/slurm
## kubernetes-check: read what a real API server lists: builds kube-apiserver, which takes minutes (Debian)
kubernetes-check: ; KUBERNETES_CHECK=required .ci/kubernetes
## objects-check: upload to and read from a real object store, built from its module (Linux)
objects-check: ; OBJECTS_CHECK=required .ci/objects
## browser-check: the pages of reports in a real browser; screenshots in bin/browser (Debian's chromium, npm)
browser-check: ; BROWSER_CHECK=required .ci/browser
## prometheus-check: metrics, rules and dashboard with a real Prometheus, and what it gives back (Debian)
prometheus-check: ; PROMETHEUS_CHECK=required .ci/prometheus
## grafana-check: the dashboards of contrib, by Grafana's own types (npm)
grafana-check: ; GRAFANA_CHECK=required .ci/grafana

## openapi-check: the description of the API of serve, by Redocly's validator (npm)
openapi-check: ; OPENAPI_CHECK=required .ci/openapi
## cross: does it build for the other systems
cross: ; .ci/cross
## packaged-check: the published programs for Linux start on glibc 2.28, are the same made twice, and record by NVIDIA's library (gcc, Debian)
packaged-check: ; PACKAGED_CHECK=required .ci/packaged
## dist: what is published, in dist: archives, packages, list of contents, checksums; the same bytes each time
dist: ; .ci/dist
## module: give the module the name under which it is hosted: make module PATH=example.org/you/capcli
module: ; @/bin/sh .ci/module '$(PATH)'
