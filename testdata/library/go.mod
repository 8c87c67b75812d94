module capcli/testdata/library

go 1.26.0

require capcli v0.0.0

require (
	github.com/klauspost/compress v1.19.2 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/tools v0.50.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace capcli => ../..
