module kubelet-gitops.dev/test/argo-lua

go 1.26.0

tool kubelet-gitops.dev/test/argo-lua

require github.com/yuin/gopher-lua v1.1.2
