// Package sdk is as much of gitea.dev/sdk 1.1 as Gitea 1.27 uses: to import repositories of other Giteas, which no test does.
// The module proxy has the release before it only, under another name: this gives that the form of the new one.
package sdk

import (
	"context"

	"code.gitea.io/sdk/gitea"
)

type (
	Attachment                = gitea.Attachment
	Comment                   = gitea.Comment
	GlobalAPISettings         = gitea.GlobalAPISettings
	Issue                     = gitea.Issue
	Label                     = gitea.Label
	ListIssueCommentOptions   = gitea.ListIssueCommentOptions
	ListIssueOption           = gitea.ListIssueOption
	ListIssueReactionsOptions = gitea.ListIssueReactionsOptions
	ListLabelsOptions         = gitea.ListLabelsOptions
	ListMilestoneOption       = gitea.ListMilestoneOption
	ListOptions               = gitea.ListOptions
	ListPullRequestsOptions   = gitea.ListPullRequestsOptions
	ListPullReviewsOptions    = gitea.ListPullReviewsOptions
	ListReleasesOptions       = gitea.ListReleasesOptions
	ListRepoTopicsOptions     = gitea.ListRepoTopicsOptions
	Milestone                 = gitea.Milestone
	PullRequest               = gitea.PullRequest
	PullReview                = gitea.PullReview
	PullReviewComment         = gitea.PullReviewComment
	Reaction                  = gitea.Reaction
	Release                   = gitea.Release
	Repository                = gitea.Repository
	Response                  = gitea.Response
)

const (
	IssueTypeIssue = gitea.IssueTypeIssue
	StateAll       = gitea.StateAll
)

var (
	SetBasicAuth  = gitea.SetBasicAuth
	SetHTTPClient = gitea.SetHTTPClient
	SetToken      = gitea.SetToken
)

type (
	Client struct {
		old          *gitea.Client
		Issues       issues
		PullRequests pullRequests
		Releases     releases
		Repositories repositories
		Settings     settings
	}
	issues       struct{ old *gitea.Client }
	pullRequests struct{ old *gitea.Client }
	releases     struct{ old *gitea.Client }
	repositories struct{ old *gitea.Client }
	settings     struct{ old *gitea.Client }
)

func NewClient(url string, options ...gitea.ClientOption) (*Client, error) {
	old, err := gitea.NewClient(url, options...)
	return &Client{old, issues{old}, pullRequests{old}, releases{old}, repositories{old}, settings{old}}, err
}

func (c *Client) CheckServerVersionConstraint(_ context.Context, constraint string) error {
	return c.old.CheckServerVersionConstraint(constraint)
}

func (r repositories) GetRepo(_ context.Context, owner, name string) (*Repository, *Response, error) {
	return r.old.GetRepo(owner, name)
}

func (r repositories) ListMilestones(_ context.Context, owner, name string, o ListMilestoneOption) ([]*Milestone, *Response, error) {
	return r.old.ListRepoMilestones(owner, name, o)
}

func (r repositories) ListRepoLabels(_ context.Context, owner, name string, o ListLabelsOptions) ([]*Label, *Response, error) {
	return r.old.ListRepoLabels(owner, name, o)
}

func (r repositories) ListRepoTopics(_ context.Context, owner, name string, o ListRepoTopicsOptions) ([]string, *Response, error) {
	return r.old.ListRepoTopics(owner, name, o)
}

func (r releases) GetReleaseAttachment(_ context.Context, owner, name string, release, id int64) (*Attachment, *Response, error) {
	return r.old.GetReleaseAttachment(owner, name, release, id)
}

func (r releases) ListReleases(_ context.Context, owner, name string, o ListReleasesOptions) ([]*Release, *Response, error) {
	return r.old.ListReleases(owner, name, o)
}

func (i issues) GetIssueCommentReactions(_ context.Context, owner, name string, id int64) ([]*Reaction, *Response, error) {
	return i.old.GetIssueCommentReactions(owner, name, id)
}

func (i issues) ListIssueComments(_ context.Context, owner, name string, index int64, o ListIssueCommentOptions) ([]*Comment, *Response, error) {
	return i.old.ListIssueComments(owner, name, index, o)
}

func (i issues) ListIssueReactions(_ context.Context, owner, name string, index int64, o ListIssueReactionsOptions) ([]*Reaction, *Response, error) {
	return i.old.ListIssueReactions(owner, name, index, o)
}

func (i issues) ListRepoIssues(_ context.Context, owner, name string, o ListIssueOption) ([]*Issue, *Response, error) {
	return i.old.ListRepoIssues(owner, name, o)
}

func (p pullRequests) ListPullReviewComments(_ context.Context, owner, name string, index, id int64) ([]*PullReviewComment, *Response, error) {
	return p.old.ListPullReviewComments(owner, name, index, id)
}

func (p pullRequests) ListPullReviews(_ context.Context, owner, name string, index int64, o ListPullReviewsOptions) ([]*PullReview, *Response, error) {
	return p.old.ListPullReviews(owner, name, index, o)
}

func (p pullRequests) ListRepoPullRequests(_ context.Context, owner, name string, o ListPullRequestsOptions) ([]*PullRequest, *Response, error) {
	return p.old.ListRepoPullRequests(owner, name, o)
}

func (s settings) GetGlobalAPISettings(context.Context) (*GlobalAPISettings, *Response, error) {
	return s.old.GetGlobalAPISettings()
}
